/* The fast BERT tokenizer: special tokens, normaliser, pre-tokenizer, WordPiece, pair template and
 * windows, equal to the reference's to the last token and offset (offsets in code points). */
#ifndef LEARN_TEXT_TOKENIZER_H
#define LEARN_TEXT_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

struct tokenizer; /* immutable after opening: any number of threads may encode with it */

/* Opens the tokenizer of a model folder: tokenizer.json, else vocab.txt; tokenizer_config.json and
 * special_tokens_map.json override as in BertTokenizerFast: do_lower_case (default true),
 * strip_accents (default as do_lower_case) and tokenize_chinese_chars (default true) replace what
 * tokenizer.json's normalizer says, unless tokenizer_class is PreTrainedTokenizerFast or
 * TokenizersBackend, with which tokenizer.json stands alone. YOKE_ERR_NOT_FOUND: neither file
 * exists; YOKE_ERR_UNSUPPORTED: another kind of tokenizer; YOKE_ERR_FORMAT, YOKE_ERR_CONFIG:
 * broken. Errors name file and line or key. */
yoke_status tokenizer_create(const char *folder, struct tokenizer **tokenizer_out) YOKE_MUST_USE;
void tokenizer_destroy(struct tokenizer *tokenizer);

/* Writes tokenizer.json, tokenizer_config.json, special_tokens_map.json and vocab.txt that the
 * reference loads unchanged. `folder` must exist. Keys of tokenizer_config.json that mean nothing
 * here are kept as they were read. vocab.txt is left out when a token has a line break, which that
 * format cannot express. */
yoke_status tokenizer_save(const struct tokenizer *tokenizer, const char *folder) YOKE_MUST_USE;

size_t
tokenizer_vocab_size(const struct tokenizer *tokenizer); /* largest id + 1, added tokens included */
const char *tokenizer_token(const struct tokenizer *tokenizer, uint32_t id); /* NULL: no such id */
/* model_max_length of tokenizer_config.json; SIZE_MAX when absent. */
size_t tokenizer_model_max_length(const struct tokenizer *tokenizer);
uint32_t tokenizer_cls_id(const struct tokenizer *tokenizer);
uint32_t tokenizer_sep_id(const struct tokenizer *tokenizer);
uint32_t tokenizer_pad_id(const struct tokenizer *tokenizer); /* 0 when there is no padding token */

struct token_scratch;

/* One tokenized text, without special tokens of the template. {0} is empty. Grows; reuse it to
 * avoid allocation: once it has grown to the longest text, encoding allocates nothing. */
struct token_list {
    size_t n;
    size_t capacity;
    uint32_t *ids;
    uint32_t *begins; /* offsets in code points of the original text */
    uint32_t *ends;
    struct token_scratch *scratch; /* of tokenizer_encode alone */
};
void token_list_fini(struct token_list *list);

/* Replaces *list by the tokens of `text` (n_bytes of UTF-8; a malformed sequence counts as U+FFFD,
 * one per maximal subpart). Special tokens inside the text are recognised. */
yoke_status tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t n_bytes,
                             struct token_list *list) YOKE_MUST_USE;

/* Windows over `n` tokens: room for `room` tokens each, `stride` overlapping; window i starts at
 * i*(room-stride); the last one ends at n. n <= room: 1 window. Needs stride < room. */
size_t tokenizer_n_windows(size_t n, size_t room, size_t stride);

#endif
