/* Encoding: added tokens out, normalise, split into words, longest pieces first.
 *
 * A text is decoded once into (code point, place) pairs and stays in that form: places survive
 * every step, so offsets come for free. Scratch lives in the caller's token list, which makes the
 * tokenizer itself immutable and every thread independent. */
#include "learn/text/tokenizer.h"

#include <string.h>

#include "base/core/memory.h"
#include "learn/text/tokenizer_internal.h"
#include "learn/text/unicode.h"

struct token_scratch {
    struct normalized_text raw;    /* the whole text */
    struct normalized_text normal; /* the stretch between two added tokens */
};

const char *const special_token_keys[N_SPECIALS] = {
    [SPECIAL_UNK] = "unk_token", [SPECIAL_SEP] = "sep_token",   [SPECIAL_PAD] = "pad_token",
    [SPECIAL_CLS] = "cls_token", [SPECIAL_MASK] = "mask_token",
};

void tokenizer_destroy(struct tokenizer *tokenizer)
{
    if (!tokenizer) {
        return;
    }
    vocab_fini(&tokenizer->vocab);
    added_tokens_fini(&tokenizer->added);
    mem_free(tokenizer->prefix);
    for (int i = 0; i < N_SPECIALS; i++) {
        mem_free(tokenizer->specials[i]);
    }
    json_decref(tokenizer->config);
    mem_free(tokenizer);
}

static const struct added_token *find_added_id(const struct tokenizer *tokenizer, uint32_t id)
{
    for (size_t i = 0; i < tokenizer->added.n; i++) {
        if (tokenizer->added.tokens[i].id == id) {
            return &tokenizer->added.tokens[i];
        }
    }
    return NULL;
}

size_t tokenizer_vocab_size(const struct tokenizer *tokenizer)
{
    size_t size = tokenizer->vocab.n_tokens;
    for (size_t i = 0; i < tokenizer->added.n; i++) {
        const size_t id = tokenizer->added.tokens[i].id;
        size = id >= size ? id + 1 : size;
    }
    return size;
}

const char *tokenizer_token(const struct tokenizer *tokenizer, uint32_t id)
{
    if (id < tokenizer->vocab.n_tokens && tokenizer->vocab.tokens[id]) {
        return tokenizer->vocab.tokens[id];
    }
    const struct added_token *added = find_added_id(tokenizer, id);
    return added ? added->content : NULL;
}

size_t tokenizer_model_max_length(const struct tokenizer *tokenizer)
{
    return tokenizer->model_max_length;
}

uint32_t tokenizer_cls_id(const struct tokenizer *tokenizer)
{
    return tokenizer->special_ids[SPECIAL_CLS];
}

uint32_t tokenizer_sep_id(const struct tokenizer *tokenizer)
{
    return tokenizer->special_ids[SPECIAL_SEP];
}

uint32_t tokenizer_pad_id(const struct tokenizer *tokenizer)
{
    return tokenizer->special_ids[SPECIAL_PAD];
}

void token_list_fini(struct token_list *list)
{
    if (list->scratch) {
        normalized_text_fini(&list->scratch->raw);
        normalized_text_fini(&list->scratch->normal);
    }
    mem_free(list->scratch);
    mem_free(list->ids);
    mem_free(list->begins);
    mem_free(list->ends);
    *list = (struct token_list){0};
}

/* Makes room for n_more tokens. The three arrays grow by one rule, so one capacity is right for
 * all. */
static yoke_status reserve_tokens(struct token_list *list, size_t n_more)
{
    const size_t need = list->n + n_more;
    if (need <= list->capacity) {
        return YOKE_OK;
    }
    size_t ids = list->capacity;
    size_t begins = list->capacity;
    size_t ends = list->capacity;
    YOKE_TRY(MEM_GROW(list->ids, ids, need));
    YOKE_TRY(MEM_GROW(list->begins, begins, need));
    YOKE_TRY(MEM_GROW(list->ends, ends, need));
    list->capacity = ids;
    return YOKE_OK;
}

/* A token made of the n characters at `chars`; room was reserved. */
static void put_token(struct token_list *list, uint32_t id, const struct normalized_char *chars,
                      size_t n)
{
    list->ids[list->n] = id;
    list->begins[list->n] = chars[0].source;
    list->ends[list->n] = chars[n - 1].source + 1;
    list->n++;
}

/* The longest piece at the beginning of chars[0..n): its length, 0 for none, and its id. */
static size_t match_piece(const struct vocab *vocab, uint32_t root,
                          const struct normalized_char *chars, size_t n, uint32_t *id_out)
{
    size_t longest = 0;
    uint32_t node = root;
    for (size_t i = 0; i < n; i++) {
        node = vocab_step(vocab, node, chars[i].code);
        if (node == VOCAB_NO_ID) {
            break;
        }
        if (vocab->node_ids[node] != VOCAB_NO_ID) {
            longest = i + 1;
            *id_out = vocab->node_ids[node];
        }
    }
    return longest;
}

/* WordPiece (Wu et al. 2016): greedy longest match first; a word with a rest is unknown as a whole.
 */
static yoke_status encode_word(const struct tokenizer *tokenizer,
                               const struct normalized_char *chars, size_t n,
                               struct token_list *list)
{
    const size_t n_before = list->n;
    YOKE_TRY(reserve_tokens(list, n <= tokenizer->max_word_chars ? n : 1));
    size_t used = n <= tokenizer->max_word_chars ? 0 : n;
    bool known = used == 0;
    while (used < n && known) {
        uint32_t id = VOCAB_NO_ID;
        const size_t length =
            match_piece(&tokenizer->vocab, used == 0 ? VOCAB_WORD_ROOT : VOCAB_PIECE_ROOT,
                        chars + used, n - used, &id);
        known = length > 0;
        if (known) {
            put_token(list, id, chars + used, length);
            used += length;
        }
    }
    if (!known) {
        list->n = n_before;
        put_token(list, tokenizer->special_ids[SPECIAL_UNK], chars, n);
    }
    return YOKE_OK;
}

/* BertPreTokenizer: words end at white space; a punctuation character is a word. */
static yoke_status encode_words(const struct tokenizer *tokenizer,
                                const struct normalized_char *chars, size_t n,
                                struct token_list *list)
{
    for (size_t begin = 0; begin < n;) {
        unsigned flags = unicode_flags(chars[begin].code);
        size_t end = begin + 1;
        if (flags & UNICODE_WHITE) {
            begin = end;
            continue;
        }
        if (!(flags & UNICODE_PUNCT)) {
            while (end < n && !(unicode_flags(chars[end].code) & (UNICODE_WHITE | UNICODE_PUNCT))) {
                end++;
            }
        }
        YOKE_TRY(encode_word(tokenizer, chars + begin, end - begin, list));
        begin = end;
    }
    return YOKE_OK;
}

/* Cuts chars[0..n) at the added tokens of one kind: raw text goes on to be normalised and cut
 * again, normalised text to be split into words. */
static yoke_status encode_spans(const struct tokenizer *tokenizer, bool normalized,
                                const struct normalized_char *chars, size_t n,
                                struct token_list *list)
{
    struct normalized_text *normal = &list->scratch->normal;
    struct added_cursor cursor = {0};
    struct added_span span;
    while (added_tokens_next(&tokenizer->added, normalized, chars, n, &cursor, &span)) {
        const struct normalized_char *part = chars + span.begin;
        const size_t n_part = span.end - span.begin;
        if (span.token) {
            YOKE_TRY(reserve_tokens(list, 1));
            put_token(list, span.token->id, part, n_part);
        } else if (normalized) {
            YOKE_TRY(encode_words(tokenizer, part, n_part, list));
        } else {
            YOKE_TRY(normalizer_run(&tokenizer->normalizer, part, n_part, normal));
            YOKE_TRY(encode_spans(tokenizer, true, normal->chars, normal->n, list));
        }
    }
    return YOKE_OK;
}

yoke_status tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t n_bytes,
                             struct token_list *list)
{
    if (!list->scratch) {
        YOKE_TRY(MEM_NEW(list->scratch, 1));
    }
    list->n = 0;
    struct normalized_text *raw = &list->scratch->raw;
    YOKE_TRY(normalized_text_decode(text, n_bytes, raw));
    return encode_spans(tokenizer, false, raw->chars, raw->n, list);
}

size_t tokenizer_n_windows(size_t n, size_t room, size_t stride)
{
    if (n <= room) {
        return 1;
    }
    const size_t step = room - stride;
    return (n - room + step - 1) / step + 1;
}
