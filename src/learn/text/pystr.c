/* Answers from utf8proc's categories, with the short lists of characters in which Unicode's derived
 * properties Cased and Case_Ignorable go beyond them. */
#include "learn/text/pystr.h"

#include <utf8proc.h>

#include "learn/text/unicode.h"

enum { CAPITAL_DOTTED_I = 0x130, COMBINING_DOT = 0x307, SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2 };

struct span {
    uint32_t first, last;
};

#define LISTED(list, code) is_listed((list), sizeof(list) / sizeof(list)[0], (code))

static bool is_listed(const struct span *spans, size_t n, uint32_t code)
{
    for (size_t i = 0; i < n; i++) {
        if (code >= spans[i].first && code <= spans[i].last) {
            return true;
        }
    }
    return false;
}

bool pystr_is_space(uint32_t code)
{
    static const struct span spaces[] = {
        {0x09, 0x0d},     {0x1c, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
        {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
    };
    return LISTED(spaces, code);
}

size_t pystr_leading_space(const char *text, size_t n_bytes)
{
    size_t end = 0;
    for (size_t next = 0; next < n_bytes; end = next) {
        if (!pystr_is_space(unicode_decode(text, n_bytes, &next, NULL))) {
            break;
        }
    }
    return end;
}

bool pystr_is_word(uint32_t code)
{
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return true;
    default:
        return code == '_';
    }
}

/* Case_Ignorable: marks, formats, modifiers, and the punctuation that stands inside words. */
static bool is_case_ignorable(uint32_t code)
{
    static const struct span inside_words[] = {
        {0x27, 0x27},     {0x2e, 0x2e},     {0x3a, 0x3a},     {0xb7, 0xb7},
        {0x387, 0x387},   {0x55f, 0x55f},   {0x5f4, 0x5f4},   {0x2018, 0x2019},
        {0x2024, 0x2024}, {0x2027, 0x2027}, {0xfe13, 0xfe13}, {0xfe52, 0xfe52},
        {0xfe55, 0xfe55}, {0xff07, 0xff07}, {0xff0e, 0xff0e}, {0xff1a, 0xff1a},
    };
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
        return true;
    default:
        return LISTED(inside_words, code);
    }
}

/* Cased, of characters that are not case-ignorable. */
static bool is_cased(uint32_t code)
{
    static const struct span without_category[] = {
        {0xaa, 0xaa},       {0xba, 0xba},       {0x2160, 0x217f},   {0x24b6, 0x24e9},
        {0x1f130, 0x1f149}, {0x1f150, 0x1f169}, {0x1f170, 0x1f189},
    };
    switch (utf8proc_category((utf8proc_int32_t)code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
        return true;
    default:
        return LISTED(without_category, code);
    }
}

/* Final_Sigma (The Unicode Standard, table 3-17): a cased letter before, none behind, with any
 * number of case-ignorable characters between. */
static bool is_final(const uint32_t *codes, size_t n, size_t i)
{
    size_t before = i;
    while (before > 0 && is_case_ignorable(codes[before - 1])) {
        before--;
    }
    size_t behind = i + 1;
    while (behind < n && is_case_ignorable(codes[behind])) {
        behind++;
    }
    return before > 0 && is_cased(codes[before - 1]) && !(behind < n && is_cased(codes[behind]));
}

size_t pystr_lower(const uint32_t *codes, size_t n, size_t i, uint32_t codes_out[static 2])
{
    const uint32_t code = codes[i];
    if (code == CAPITAL_DOTTED_I) {
        codes_out[0] = 'i';
        codes_out[1] = COMBINING_DOT;
        return 2;
    }
    if (code == SIGMA && is_final(codes, n, i)) {
        codes_out[0] = FINAL_SIGMA;
    } else {
        codes_out[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code);
    }
    return 1;
}
