/* BertNormalizer: cleaning, spaces around ideographs, accents off, lower case, with every resulting
 * character's place in the original text. */
#ifndef LEARN_TEXT_NORMALIZER_H
#define LEARN_TEXT_NORMALIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

struct normalizer_options {
    bool clean_text;
    bool handle_chinese_chars;
    bool strip_accents;
    bool lowercase;
};

/* A character and the index of the original code point it comes from. */
struct normalized_char {
    uint32_t code;
    uint32_t source;
};

struct normalized_mark; /* a combining character that waits for its run to end */

/* Normalised characters; {0} is empty. Grows, and is meant to be reused. */
struct normalized_text {
    struct normalized_char *chars;
    size_t n;
    size_t capacity;
    struct normalized_mark *marks; /* of the normaliser alone */
    size_t n_marks;
    size_t marks_capacity;
};
void normalized_text_fini(struct normalized_text *text);

/* Replaces *text_out by the code points of `text` (n_bytes of UTF-8; U+FFFD for each maximal
 * subpart of a malformed sequence), unchanged; source = index. YOKE_ERR_LIMIT from 2^32 - 1 bytes
 * on. */
yoke_status normalized_text_decode(const char *text, size_t n_bytes,
                                   struct normalized_text *text_out) YOKE_MUST_USE;

/* Replaces *text_out by the normal form of chars[0..n). */
yoke_status normalizer_run(const struct normalizer_options *options,
                           const struct normalized_char *chars, size_t n,
                           struct normalized_text *text_out) YOKE_MUST_USE;

#endif
