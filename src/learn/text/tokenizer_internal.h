/* What the tokenizer is made of: read by tokenizer_load.c, used by tokenizer.c, written by
 * tokenizer_save.c. */
#ifndef LEARN_TEXT_TOKENIZER_INTERNAL_H
#define LEARN_TEXT_TOKENIZER_INTERNAL_H

#include "learn/format/json.h"
#include "learn/text/added_tokens.h"
#include "learn/text/normalizer.h"
#include "learn/text/tokenizer.h"
#include "learn/text/vocab.h"

enum { TOKENIZER_MAX_WORD_CHARS = 100 }; /* the default of max_input_chars_per_word */
#define TOKENIZER_PREFIX "##"

/* The five named tokens of a BERT tokenizer, in the order in which the reference adds them. */
enum special_token { SPECIAL_UNK, SPECIAL_SEP, SPECIAL_PAD, SPECIAL_CLS, SPECIAL_MASK, N_SPECIALS };

/* "unk_token": the key in tokenizer_config.json and special_tokens_map.json. */
extern const char *const special_token_keys[N_SPECIALS];

struct tokenizer {
    struct vocab vocab;        /* what WordPiece may use */
    struct added_tokens added; /* cut out before; an id may lie above those of vocab */
    struct normalizer_options normalizer;
    char *prefix;               /* of pieces that continue a word */
    size_t max_word_chars;      /* a longer word is unknown as a whole */
    char *specials[N_SPECIALS]; /* NULL: there is no such token (padding and mask only) */
    uint32_t special_ids[N_SPECIALS];
    size_t model_max_length;
    json_t *config; /* tokenizer_config.json as it was read, or an empty object */
};

/* Fills vocab, added, normalizer, prefix, max_word_chars and the names of unk, cls and sep from the
 * contents of a tokenizer.json; `path` stands in errors. What the file does not say is left alone.
 */
yoke_status tokenizer_read_json(struct tokenizer *tokenizer, const json_t *json,
                                const char *path) YOKE_MUST_USE;

/* Adds an added token with the id that the reference would give it: that of the vocabulary, else
 * the next one. An entry with its content is replaced. `id` is what the file says, VOCAB_NO_ID for
 * nothing; YOKE_ERR_FORMAT when it is another one. */
yoke_status tokenizer_add_token(struct tokenizer *tokenizer, struct added_token token, uint32_t id,
                                const char *path) YOKE_MUST_USE;

/* Reads {"content": ..., "special": ..., ...} of `path`; content is borrowed from `json`. */
yoke_status tokenizer_read_added(const json_t *json, const char *path,
                                 struct added_token *token_out) YOKE_MUST_USE;

/* The boolean at json[key]; *value_out is left alone when the key is missing or null.
 * YOKE_ERR_CONFIG when it is something else. */
yoke_status tokenizer_read_bool(const json_t *json, const char *key, const char *path,
                                bool *value_out) YOKE_MUST_USE;

/* The id of an added token or a token of the vocabulary, or VOCAB_NO_ID. */
uint32_t tokenizer_find(const struct tokenizer *tokenizer, const char *token);

/* Replaces *text_inout by a copy of `text`. */
yoke_status tokenizer_set_text(char **text_inout, const char *text) YOKE_MUST_USE;

#endif
