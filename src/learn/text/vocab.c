/* The vocabulary's two indexes. Both are open addressing with linear probing at a load of at most
 * one half; keys come from a file that the user chose, so the worst case is slow loading, nothing
 * worse.
 *
 * Invariants: tokens are valid UTF-8 without NUL, at most VOCAB_MAX_TOKEN_BYTES long; a token of id
 * i is found in slots[] as i + 1; node numbers fit 32 bits. */
#include "learn/text/vocab.h"

#include <stdbool.h>
#include <string.h>

#include "base/core/memory.h"
#include "learn/text/unicode.h"

enum { FIRST_SLOTS = 1024, CODE_BITS = 21 };

void vocab_fini(struct vocab *vocab)
{
    for (size_t id = 0; id < vocab->n_tokens; id++) {
        mem_free(vocab->tokens[id]);
    }
    mem_free(vocab->tokens);
    mem_free(vocab->slots);
    mem_free(vocab->edges);
    mem_free(vocab->node_ids);
    *vocab = (struct vocab){0};
}

/* FNV-1a (Fowler, Noll, Vo) with its high bits folded in, for the slots use the low ones. */
static size_t hash_bytes(const char *bytes, size_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    }
    return (size_t)(hash ^ hash >> 32);
}

/* The slot of a token, or the free slot where it belongs. */
static size_t find_slot(const struct vocab *vocab, const char *token, size_t n_bytes)
{
    size_t slot = hash_bytes(token, n_bytes) & (vocab->n_slots - 1);
    while (vocab->slots[slot] != 0) {
        const char *other = vocab->tokens[vocab->slots[slot] - 1];
        if (strncmp(other, token, n_bytes) == 0 && other[n_bytes] == '\0') {
            break;
        }
        slot = (slot + 1) & (vocab->n_slots - 1);
    }
    return slot;
}

static yoke_status grow_slots(struct vocab *vocab)
{
    const size_t n = vocab->n_slots ? vocab->n_slots * 2 : FIRST_SLOTS;
    uint32_t *slots;
    YOKE_TRY(MEM_NEW(slots, n));
    mem_free(vocab->slots);
    vocab->slots = slots;
    vocab->n_slots = n;
    for (size_t id = 0; id < vocab->n_tokens; id++) {
        const char *token = vocab->tokens[id];
        if (token) {
            slots[find_slot(vocab, token, strlen(token))] = (uint32_t)id + 1;
        }
    }
    return YOKE_OK;
}

uint32_t vocab_find(const struct vocab *vocab, const char *token, size_t n_bytes)
{
    if (vocab->n_slots == 0) {
        return VOCAB_NO_ID;
    }
    return vocab->slots[find_slot(vocab, token, n_bytes)] -
           1; /* 0, a free slot, becomes VOCAB_NO_ID */
}

/* Makes tokens[id] exist; ids skipped have no token. */
static yoke_status reach_id(struct vocab *vocab, uint32_t id)
{
    YOKE_TRY(MEM_GROW(vocab->tokens, vocab->tokens_capacity, (size_t)id + 1));
    while (vocab->n_tokens <= id) {
        vocab->tokens[vocab->n_tokens++] = NULL;
    }
    return YOKE_OK;
}

yoke_status vocab_add(struct vocab *vocab, const char *token, size_t n_bytes, uint32_t id)
{
    if (n_bytes > VOCAB_MAX_TOKEN_BYTES) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "a token of %zu bytes, the limit is %d: this is no vocabulary", n_bytes,
                         VOCAB_MAX_TOKEN_BYTES);
    }
    if (id >= VOCAB_MAX_TOKENS) {
        return yoke_fail(YOKE_ERR_FORMAT, "token '%.*s' has id %u, ids must be below %d",
                         (int)n_bytes, token, id, VOCAB_MAX_TOKENS);
    }
    const uint32_t other = vocab_find(vocab, token, n_bytes);
    if (other != VOCAB_NO_ID) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "token '%.*s' of id %u has id %u already; remove one of them",
                         (int)n_bytes, token, id, other);
    }
    if (id < vocab->n_tokens && vocab->tokens[id]) {
        return yoke_fail(YOKE_ERR_FORMAT, "id %u of token '%.*s' belongs to '%s' already", id,
                         (int)n_bytes, token, vocab->tokens[id]);
    }
    YOKE_TRY(reach_id(vocab, id));
    if (2 * (vocab->n_used + 1) > vocab->n_slots) {
        YOKE_TRY(grow_slots(vocab));
    }
    char *copy = mem_strndup(token, n_bytes);
    if (!copy) {
        return YOKE_ERR_NO_MEMORY;
    }
    vocab->tokens[id] = copy;
    vocab->slots[find_slot(vocab, copy, n_bytes)] = id + 1;
    vocab->n_used++;
    return YOKE_OK;
}

/* The length of a line without the white space at its end. *valid becomes false when it is not
 * UTF-8. */
static size_t trim_line(const char *line, size_t n, bool *valid)
{
    size_t trimmed = 0;
    for (size_t i = 0; i < n;) {
        if (!(unicode_flags(unicode_decode(line, n, &i, valid)) & UNICODE_WHITE)) {
            trimmed = i;
        }
    }
    return trimmed;
}

static yoke_status parse_line(struct vocab *vocab, const char *line, size_t n, size_t id)
{
    bool valid = true;
    const size_t trimmed = trim_line(line, n, &valid);
    if (!valid) {
        return yoke_fail(YOKE_ERR_FORMAT, "not UTF-8 text; save the vocabulary as UTF-8");
    }
    if (memchr(line, '\0', n)) {
        return yoke_fail(YOKE_ERR_FORMAT, "a NUL byte: this is no vocabulary");
    }
    if (id >= VOCAB_MAX_TOKENS) {
        return yoke_fail(YOKE_ERR_FORMAT, "more than %d lines", VOCAB_MAX_TOKENS);
    }
    if (trimmed == 0 && vocab_find(vocab, "", 0) != VOCAB_NO_ID) {
        return YOKE_OK;
    }
    return vocab_add(vocab, line, trimmed, (uint32_t)id);
}

yoke_status vocab_parse(struct vocab *vocab, const char *text, size_t n_bytes, const char *name)
{
    while (n_bytes > 0 && strchr("\n\r\t ", text[n_bytes - 1]) && text[n_bytes - 1] != '\0') {
        n_bytes--;
    }
    size_t begin = n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (size_t id = 0; begin < n_bytes; id++) {
        const char *newline = memchr(text + begin, '\n', n_bytes - begin);
        const size_t end = newline ? (size_t)(newline - text) : n_bytes;
        const yoke_status status = parse_line(vocab, text + begin, end - begin, id);
        if (status < 0) {
            return yoke_fail_prefix(status, "%s: line %zu", name, id + 1);
        }
        begin = end + 1;
    }
    if (vocab->n_used == 0) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: line 1: the vocabulary is empty", name);
    }
    return YOKE_OK;
}

/* Fibonacci hashing (Knuth, TAOCP 3, 6.4): the high half of the product depends on every bit. */
static size_t edge_slot(const struct vocab *vocab, uint64_t key)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (vocab->n_edges - 1);
}

static uint64_t edge_key(uint32_t node, uint32_t code)
{
    return ((uint64_t)node << CODE_BITS | code) + 1;
}

static struct vocab_edge *find_edge(const struct vocab *vocab, uint64_t key)
{
    size_t slot = edge_slot(vocab, key);
    while (vocab->edges[slot].key != 0 && vocab->edges[slot].key != key) {
        slot = (slot + 1) & (vocab->n_edges - 1);
    }
    return &vocab->edges[slot];
}

uint32_t vocab_step(const struct vocab *vocab, uint32_t node, uint32_t code)
{
    const struct vocab_edge *edge = find_edge(vocab, edge_key(node, code));
    return edge->key != 0 ? edge->to : VOCAB_NO_ID;
}

static yoke_status add_node(struct vocab *vocab, uint32_t *node_out)
{
    if (vocab->n_nodes >= UINT32_MAX) {
        return yoke_fail(YOKE_ERR_LIMIT, "the vocabulary has too many characters");
    }
    YOKE_TRY(MEM_GROW(vocab->node_ids, vocab->nodes_capacity, vocab->n_nodes + 1));
    vocab->node_ids[vocab->n_nodes] = VOCAB_NO_ID;
    *node_out = (uint32_t)vocab->n_nodes++;
    return YOKE_OK;
}

static yoke_status grow_edges(struct vocab *vocab)
{
    struct vocab_edge *old = vocab->edges;
    const size_t n_old = vocab->n_edges;
    struct vocab_edge *edges;
    YOKE_TRY(MEM_NEW(edges, n_old ? n_old * 2 : FIRST_SLOTS));
    vocab->edges = edges;
    vocab->n_edges = n_old ? n_old * 2 : FIRST_SLOTS;
    for (size_t i = 0; i < n_old; i++) {
        if (old[i].key != 0) {
            *find_edge(vocab, old[i].key) = old[i];
        }
    }
    mem_free(old);
    return YOKE_OK;
}

static yoke_status add_path(struct vocab *vocab, uint32_t node, const char *text, uint32_t id)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n;) {
        if (2 * (vocab->n_nodes + 1) >
            vocab->n_edges) { /* a node but the roots has one edge to it */
            YOKE_TRY(grow_edges(vocab));
        }
        const uint64_t key = edge_key(node, unicode_decode(text, n, &i, NULL));
        struct vocab_edge *edge = find_edge(vocab, key);
        if (edge->key == 0) {
            uint32_t next = 0;
            YOKE_TRY(add_node(vocab, &next));
            *edge = (struct vocab_edge){key, next};
        }
        node = edge->to;
    }
    vocab->node_ids[node] = id;
    return YOKE_OK;
}

yoke_status vocab_build_trie(struct vocab *vocab, const char *prefix)
{
    const size_t n_prefix = strlen(prefix);
    uint32_t root;
    YOKE_TRY(add_node(vocab, &root)); /* VOCAB_WORD_ROOT */
    YOKE_TRY(add_node(vocab, &root)); /* VOCAB_PIECE_ROOT */
    YOKE_TRY(grow_edges(vocab));
    for (size_t id = 0; id < vocab->n_tokens; id++) {
        const char *token = vocab->tokens[id];
        if (!token || !*token) {
            continue;
        }
        YOKE_TRY(add_path(vocab, VOCAB_WORD_ROOT, token, (uint32_t)id));
        if (strncmp(token, prefix, n_prefix) == 0 && token[n_prefix] != '\0') {
            YOKE_TRY(add_path(vocab, VOCAB_PIECE_ROOT, token + n_prefix, (uint32_t)id));
        }
    }
    return YOKE_OK;
}
