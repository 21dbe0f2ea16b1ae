/* A vocabulary of word pieces: tokens by id, ids by token, and the trie of WordPiece's longest
 * match. */
#ifndef LEARN_TEXT_VOCAB_H
#define LEARN_TEXT_VOCAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

enum {
    VOCAB_NO_ID = UINT32_MAX,
    VOCAB_MAX_TOKENS = 1 << 24,   /* ids are below; a file that asks for more is broken */
    VOCAB_MAX_TOKEN_BYTES = 4096, /* a longer line means that the file is no vocabulary */
};

/* One edge of the trie: code point `code` leads from node `from` to node `to`. Open addressing
 * keyed by (from, code), so that a step is one probe and a node costs one slot. */
struct vocab_edge {
    uint64_t key; /* from << 21 | code, plus 1; 0: free */
    uint32_t to;
};

struct vocab {
    char **tokens; /* [n_tokens] by id; NULL: no token has that id */
    size_t n_tokens;
    size_t tokens_capacity;

    uint32_t *slots; /* [n_slots] id + 1 by hash of the token, 0: free; n_slots is a power of two */
    size_t n_slots;
    size_t n_used;

    struct vocab_edge *edges; /* [n_edges], a power of two */
    size_t n_edges;
    uint32_t *node_ids; /* [n_nodes] id of the token that ends at a node, or VOCAB_NO_ID */
    size_t n_nodes;
    size_t nodes_capacity;
};

enum { VOCAB_WORD_ROOT = 0, VOCAB_PIECE_ROOT = 1 }; /* nodes where a search starts */

/* {0} is an empty vocabulary; fini releases any. */
void vocab_fini(struct vocab *vocab);

/* Adds a token (n_bytes of valid UTF-8 without NUL; it may be empty and then never matches).
 * YOKE_ERR_FORMAT when the token or the id is taken, when the token is too long or the id too
 * large; the message says what, not where. */
yoke_status vocab_add(struct vocab *vocab, const char *token, size_t n_bytes,
                      uint32_t id) YOKE_MUST_USE;

/* Fills an empty vocabulary from the text of a vocab.txt: one token a line, the first line is id 0.
 * White space at the end of a line, a byte order mark and blank lines at the end of the file are
 * skipped. The first blank line within is the empty token, as in the reference; others are ids
 * without a token. `name` stands for the file in errors, which give the line. */
yoke_status vocab_parse(struct vocab *vocab, const char *text, size_t n_bytes,
                        const char *name) YOKE_MUST_USE;

/* Builds the trie; call once when all tokens that WordPiece may use are in. `prefix` marks pieces
 * that continue a word ("##"). */
yoke_status vocab_build_trie(struct vocab *vocab, const char *prefix) YOKE_MUST_USE;

/* The id of a token, or VOCAB_NO_ID. */
uint32_t vocab_find(const struct vocab *vocab, const char *token, size_t n_bytes);

/* The node behind `node` along `code`, or VOCAB_NO_ID. */
uint32_t vocab_step(const struct vocab *vocab, uint32_t node, uint32_t code);

#endif
