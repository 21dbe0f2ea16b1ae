/* Decoding and lookups: by index for ASCII, nearly all of an English text, by search for the rest.
 */
#include "learn/text/unicode.h"

#include <utf8proc.h>

#include "learn/text/unicode_tables.h"

enum { CAPITAL_DOTTED_I = 0x130, COMBINING_DOT = 0x307 };

/* How a lead byte goes on: number of continuation bytes and the range of the first of them, which
 * alone keeps out overlong forms, surrogates and what lies above U+10FFFF (The Unicode Standard,
 * table 3-7). */
struct lead {
    unsigned n_more;
    unsigned char low, high;
};

static struct lead classify_lead(unsigned char byte)
{
    struct lead lead = {0, 0x80, 0xbf};
    if (byte >= 0xc2 && byte <= 0xdf) {
        lead.n_more = 1;
    } else if (byte >= 0xe0 && byte <= 0xef) {
        lead.n_more = 2;
        lead.low = byte == 0xe0 ? 0xa0 : 0x80;
        lead.high = byte == 0xed ? 0x9f : 0xbf;
    } else if (byte >= 0xf0 && byte <= 0xf4) {
        lead.n_more = 3;
        lead.low = byte == 0xf0 ? 0x90 : 0x80;
        lead.high = byte == 0xf4 ? 0x8f : 0xbf;
    }
    return lead;
}

/* utf8proc_iterate reports a malformed sequence without saying where its maximal subpart ends, so
 * the decoder is our own. */
uint32_t unicode_decode(const char *text, size_t n, size_t *i, bool *valid)
{
    const unsigned char byte = (unsigned char)text[(*i)++];
    if (byte < 0x80) {
        return byte;
    }
    const struct lead lead = classify_lead(byte);
    uint32_t code = byte & (0x3fu >> lead.n_more);
    for (unsigned k = 0; k < lead.n_more; k++) {
        const unsigned char low = k == 0 ? lead.low : 0x80;
        const unsigned char high = k == 0 ? lead.high : 0xbf;
        const unsigned char next = *i < n ? (unsigned char)text[*i] : 0;
        if (next < low || next > high) {
            if (valid) {
                *valid = false;
            }
            return UNICODE_REPLACEMENT;
        }
        code = code << 6 | (next & 0x3fu);
        (*i)++;
    }
    if (lead.n_more == 0) {
        if (valid) {
            *valid = false;
        }
        return UNICODE_REPLACEMENT;
    }
    return code;
}

size_t unicode_encode(uint32_t code, char bytes_out[static 4])
{
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)code, (utf8proc_uint8_t *)bytes_out);
}

static unsigned search_flags(uint32_t code)
{
    size_t low = 0;
    size_t high = unicode_n_flag_ranges;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (code > unicode_flag_ranges[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < unicode_n_flag_ranges && code >= unicode_flag_ranges[low].first
               ? unicode_flag_ranges[low].flags
               : 0;
}

unsigned unicode_flags(uint32_t code)
{
    return code < 128 ? unicode_ascii_flags[code] : search_flags(code);
}

size_t unicode_decompose(uint32_t code, uint32_t codes_out[static UNICODE_MAX_DECOMPOSED])
{
    codes_out[0] = code;
    if (code < 0xc0 ||
        (unicode_flags(code) & UNICODE_WHOLE)) { /* U+00C0 is the first that decomposes */
        return 1;
    }
    utf8proc_int32_t parts[UNICODE_MAX_DECOMPOSED];
    int boundary = 0;
    const utf8proc_ssize_t n = utf8proc_decompose_char(
        (utf8proc_int32_t)code, parts, UNICODE_MAX_DECOMPOSED, UTF8PROC_DECOMPOSE, &boundary);
    if (n < 1 || n > UNICODE_MAX_DECOMPOSED) {
        return 1;
    }
    for (utf8proc_ssize_t i = 0; i < n; i++) {
        codes_out[i] = (uint32_t)parts[i];
    }
    return (size_t)n;
}

unsigned unicode_combining_class(uint32_t code)
{
    if (code < 0x300) { /* the first combining character */
        return 0;
    }
    const int class = utf8proc_get_property((utf8proc_int32_t)code)->combining_class;
    return class != 0 && (unicode_flags(code) & UNICODE_STARTER) ? 0 : (unsigned)class;
}

static uint32_t search_lower(uint32_t code)
{
    size_t low = 0;
    size_t high = unicode_n_case_ranges;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (code > unicode_case_ranges[middle].last) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == unicode_n_case_ranges) {
        return code;
    }
    const struct unicode_case_range *range = &unicode_case_ranges[low];
    if (code < range->first || (code - range->first) % range->stride != 0) {
        return code;
    }
    return (uint32_t)((int32_t)code + range->delta);
}

size_t unicode_lower(uint32_t code, uint32_t codes_out[static UNICODE_MAX_LOWER])
{
    if (code == CAPITAL_DOTTED_I) {
        codes_out[0] = 'i';
        codes_out[1] = COMBINING_DOT;
        return 2;
    }
    if (code < 0x80) {
        codes_out[0] = code - 'A' < 26 ? code + ('a' - 'A') : code;
    } else {
        codes_out[0] = search_lower(code);
    }
    return 1;
}

/* Letters that are alphabetic without being of a letter category: circled and squared Latin
 * letters. */
static bool is_enclosed_letter(uint32_t code)
{
    return (code >= 0x24b6 && code <= 0x24e9) || (code >= 0x1f130 && code <= 0x1f149) ||
           (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189);
}

bool unicode_is_word(uint32_t code)
{
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return true;
    default:
        return code == 0x200c || code == 0x200d || is_enclosed_letter(code);
    }
}
