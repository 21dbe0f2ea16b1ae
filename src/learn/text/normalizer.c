/* The four steps of the reference's BertNormalizer in its order: clean, ideographs, accents, lower
 * case.
 *
 * The steps are independent from character to character but for one thing: canonical decomposition
 * sorts combining characters by class. The reference keeps its map to the original text by position
 * while it sorts, so a character that moved answers for the place it moved to; flush_marks() does
 * the same. Marks that the accent step removes are removed after the sorting: they count as places,
 * too. */
#include "learn/text/normalizer.h"

#include "base/core/memory.h"
#include "learn/text/unicode.h"

struct normalized_mark {
    uint32_t code;
    uint32_t source;
    uint8_t class; /* canonical combining class, not 0 */
    bool first;    /* first of the decomposition of its source */
};

void normalized_text_fini(struct normalized_text *text)
{
    mem_free(text->chars);
    mem_free(text->marks);
    *text = (struct normalized_text){0};
}

/* Room for what one more character can add: all waiting marks, an ideograph's two spaces and one
 * decomposition, each in lower case. */
static yoke_status reserve(struct normalized_text *text)
{
    const size_t more = (text->n_marks + 2 + UNICODE_MAX_DECOMPOSED) * UNICODE_MAX_LOWER;
    YOKE_TRY(MEM_GROW(text->chars, text->capacity, text->n + more));
    return MEM_GROW(text->marks, text->marks_capacity, text->n_marks + UNICODE_MAX_DECOMPOSED);
}

static void put_lower(const struct normalizer_options *options, struct normalized_text *text,
                      uint32_t code, uint32_t source)
{
    uint32_t lower[UNICODE_MAX_LOWER] = {code};
    const size_t n = options->lowercase ? unicode_lower(code, lower) : 1;
    for (size_t i = 0; i < n; i++) {
        text->chars[text->n++] = (struct normalized_char){lower[i], source};
    }
}

static void put_unless_mark(const struct normalizer_options *options, struct normalized_text *text,
                            uint32_t code, uint32_t source)
{
    if (!(unicode_flags(code) & UNICODE_MARK)) {
        put_lower(options, text, code, source);
    }
}

/* Puts the waiting marks in canonical order (The Unicode Standard, D109: a stable sort by class).
 * The k-th mark that is the first of its decomposition takes the place of the k-th such mark before
 * the sorting, the others that of the character before them; `source` is the place of the starter
 * before the run. One pass a class: there are about 55, and a run is rarely longer than two. */
static void flush_marks(const struct normalizer_options *options, struct normalized_text *text,
                        uint32_t source)
{
    bool present[256] = {false};
    for (size_t i = 0; i < text->n_marks; i++) {
        present[text->marks[i].class] = true;
    }
    size_t place = 0;
    for (unsigned class = 1; class < 256; class ++) {
        for (size_t i = 0; present[class] && i < text->n_marks; i++) {
            const struct normalized_mark *mark = &text->marks[i];
            if (mark->class != class) {
                continue;
            }
            if (mark->first) {
                while (!text->marks[place].first) {
                    place++;
                }
                source = text->marks[place++].source;
            }
            put_unless_mark(options, text, mark->code, source);
        }
    }
    text->n_marks = 0;
}

/* The accent step and the lower case of one cleaned character. *starter is the place of the last
 * character that was no combining one. */
static void put_decomposed(const struct normalizer_options *options, struct normalized_text *text,
                           uint32_t code, uint32_t source, uint32_t *starter)
{
    uint32_t parts[UNICODE_MAX_DECOMPOSED];
    const size_t n = unicode_decompose(code, parts);
    for (size_t i = 0; i < n; i++) {
        const unsigned class = unicode_combining_class(parts[i]);
        if (class != 0) {
            text->marks[text->n_marks++] =
                (struct normalized_mark){parts[i], source, (uint8_t) class, i == 0};
            continue;
        }
        if (text->n_marks > 0) {
            flush_marks(options, text, *starter);
        }
        put_unless_mark(options, text, parts[i], source);
        *starter = source;
    }
}

yoke_status normalized_text_decode(const char *text, size_t n_bytes,
                                   struct normalized_text *text_out)
{
    if (n_bytes >= UINT32_MAX) {
        return yoke_fail(YOKE_ERR_LIMIT, "a text of %zu bytes; split it, the limit is 4 GiB",
                         n_bytes);
    }
    YOKE_TRY(MEM_GROW(text_out->chars, text_out->capacity, n_bytes));
    text_out->n = 0;
    for (size_t i = 0; i < n_bytes;) {
        const uint32_t code = unicode_decode(text, n_bytes, &i, NULL);
        text_out->chars[text_out->n] = (struct normalized_char){code, (uint32_t)text_out->n};
        text_out->n++;
    }
    return YOKE_OK;
}

yoke_status normalizer_run(const struct normalizer_options *options,
                           const struct normalized_char *chars, size_t n,
                           struct normalized_text *text_out)
{
    struct normalized_text *text = text_out;
    uint32_t starter = n > 0 ? chars[0].source : 0;
    text->n = 0;
    text->n_marks = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t source = chars[i].source;
        const unsigned flags = unicode_flags(chars[i].code);
        if (options->clean_text && (flags & UNICODE_DELETE)) {
            continue;
        }
        const uint32_t code = options->clean_text && (flags & UNICODE_SPACE) ? ' ' : chars[i].code;
        const uint32_t around[3] = {' ', code, ' '};
        const bool apart = options->handle_chinese_chars && (flags & UNICODE_CJK);
        YOKE_TRY(reserve(text));
        for (size_t k = apart ? 0 : 1; k < (apart ? 3 : 2); k++) {
            if (options->strip_accents) {
                put_decomposed(options, text, around[k], source, &starter);
            } else {
                put_lower(options, text, around[k], source);
            }
        }
    }
    YOKE_TRY(reserve(text));
    flush_marks(options, text, starter);
    return YOKE_OK;
}
