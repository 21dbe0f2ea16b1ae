/* Code points: decoding UTF-8, and what the reference tokenizer thinks of each character.
 *
 * Decisions (delete, space, punctuation, mark, lower case) come from tables measured on the
 * reference, which was built with several old Unicode versions; decomposition comes from utf8proc,
 * held back where it is younger than the reference's. */
#ifndef LEARN_TEXT_UNICODE_H
#define LEARN_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    UNICODE_REPLACEMENT = 0xfffd,
    UNICODE_MAX_DECOMPOSED = 4, /* no canonical decomposition is longer */
    UNICODE_MAX_LOWER = 2,
};

enum unicode_flag {
    UNICODE_DELETE = 1,   /* removed by the cleaning step */
    UNICODE_SPACE = 2,    /* becomes U+0020 in the cleaning step */
    UNICODE_CJK = 4,      /* stands alone between spaces */
    UNICODE_WHITE = 8,    /* separates words */
    UNICODE_PUNCT = 16,   /* is a word of its own */
    UNICODE_MARK = 32,    /* removed with the accents */
    UNICODE_STARTER = 64, /* combining only in younger Unicode: never reordered */
    UNICODE_WHOLE = 128,  /* decomposes only in younger Unicode: stays whole */
};

/* The code point at text[*i], *i < n; moves *i behind it. A malformed sequence gives U+FFFD for
 * each maximal subpart (The Unicode Standard 3.9, U+FFFD substitution); `*valid`, which may be
 * NULL, is then set to false and else left alone. */
uint32_t unicode_decode(const char *text, size_t n, size_t *i, bool *valid);

/* Writes the UTF-8 of a code point that is no surrogate; returns its 1 to 4 bytes. */
size_t unicode_encode(uint32_t code, char bytes_out[static 4]);

/* OR of unicode_flag. */
unsigned unicode_flags(uint32_t code);

/* Full canonical decomposition; returns the number of code points written, at least 1. */
size_t unicode_decompose(uint32_t code, uint32_t codes_out[static UNICODE_MAX_DECOMPOSED]);

/* Canonical combining class; 0 for a starter. */
unsigned unicode_combining_class(uint32_t code);

/* Lower case of one character, without regard to its neighbours. Returns 1 or 2. */
size_t unicode_lower(uint32_t code, uint32_t codes_out[static UNICODE_MAX_LOWER]);

/* \w of the reference's regular expressions: alphabetic, mark, decimal digit, connector, joiner. */
bool unicode_is_word(uint32_t code);

#endif
