/* Added tokens: strings that are cut out of the text before anything else, such as [SEP]. */
#ifndef LEARN_TEXT_ADDED_TOKENS_H
#define LEARN_TEXT_ADDED_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"
#include "learn/text/normalizer.h"

struct added_token {
    char *content;
    uint32_t id;
    bool single_word; /* only where no word character touches it */
    bool lstrip;      /* swallows the white space on its left */
    bool rstrip;
    bool normalized; /* sought, in its normal form, in the normal form of the text */
    bool special;
    struct normalized_char *pattern; /* [n_pattern] what is sought; sources mean nothing */
    size_t n_pattern;
};

/* {0} is empty. */
struct added_tokens {
    struct added_token *tokens;
    size_t n;
    size_t capacity;
    /* Filters: bit (code & 63) of the first characters of the patterns, raw and normalised. */
    uint64_t first_raw;
    uint64_t first_normalized;
};
void added_tokens_fini(struct added_tokens *added);

/* Adds a copy of `token` (its pattern is not looked at); one with the same content is replaced. */
yoke_status added_tokens_put(struct added_tokens *added,
                             const struct added_token *token) YOKE_MUST_USE;

const struct added_token *added_tokens_find(const struct added_tokens *added, const char *content);

/* Computes the patterns; call once, after the last put. */
yoke_status added_tokens_prepare(struct added_tokens *added,
                                 const struct normalizer_options *options) YOKE_MUST_USE;

/* A stretch of a text: chars[begin..end), an added token or, with token NULL, text between two. */
struct added_span {
    const struct added_token *token;
    size_t begin, end;
};

/* A walk over a text; {0} is its beginning. */
struct added_cursor {
    size_t position;           /* end of the last span given out */
    size_t search;             /* where the next match is sought */
    struct added_span pending; /* a match found behind the last span; token NULL: none */
};

/* Cuts chars[0..n) at the added tokens with the given `normalized` flag: leftmost, then longest,
 * without overlap. Each call gives the next span; false when the text is used up. */
bool added_tokens_next(const struct added_tokens *added, bool normalized,
                       const struct normalized_char *chars, size_t n, struct added_cursor *cursor,
                       struct added_span *span_out);

#endif
