/* Cutting added tokens out. A model has a handful of them, so candidates are tried one after the
 * other behind a filter on the first character; an automaton would not be faster. */
#include "learn/text/added_tokens.h"

#include <string.h>

#include "base/core/memory.h"
#include "learn/text/unicode.h"

void added_tokens_fini(struct added_tokens *added)
{
    for (size_t i = 0; i < added->n; i++) {
        mem_free(added->tokens[i].content);
        mem_free(added->tokens[i].pattern);
    }
    mem_free(added->tokens);
    *added = (struct added_tokens){0};
}

static size_t find_index(const struct added_tokens *added, const char *content)
{
    size_t i = 0;
    while (i < added->n && strcmp(added->tokens[i].content, content) != 0) {
        i++;
    }
    return i;
}

const struct added_token *added_tokens_find(const struct added_tokens *added, const char *content)
{
    const size_t i = find_index(added, content);
    return i < added->n ? &added->tokens[i] : NULL;
}

yoke_status added_tokens_put(struct added_tokens *added, const struct added_token *token)
{
    char *content = mem_strdup(token->content);
    if (!content) {
        return YOKE_ERR_NO_MEMORY;
    }
    const size_t i = find_index(added, token->content);
    const yoke_status status = MEM_GROW(added->tokens, added->capacity, i + 1);
    if (status < 0) {
        mem_free(content);
        return status;
    }
    if (i == added->n) {
        added->n++;
    } else {
        mem_free(added->tokens[i].content);
    }
    added->tokens[i] = *token;
    added->tokens[i].content = content;
    added->tokens[i].pattern = NULL;
    added->tokens[i].n_pattern = 0;
    return YOKE_OK;
}

static yoke_status prepare_token(struct added_token *token,
                                 const struct normalizer_options *options)
{
    struct normalized_text raw = {0};
    struct normalized_text normal = {0};
    yoke_status status = normalized_text_decode(token->content, strlen(token->content), &raw);
    if (status == YOKE_OK && token->normalized) {
        status = normalizer_run(options, raw.chars, raw.n, &normal);
    }
    if (status == YOKE_OK) {
        struct normalized_text *pattern = token->normalized ? &normal : &raw;
        token->pattern = pattern->chars; /* the token owns it now */
        token->n_pattern = pattern->n;
        pattern->chars = NULL;
    }
    normalized_text_fini(&raw);
    normalized_text_fini(&normal);
    return status;
}

static uint64_t filter_bit(uint32_t code)
{
    return (uint64_t)1 << (code & 63);
}

yoke_status added_tokens_prepare(struct added_tokens *added,
                                 const struct normalizer_options *options)
{
    for (size_t i = 0; i < added->n; i++) {
        struct added_token *token = &added->tokens[i];
        YOKE_TRY(prepare_token(token, options));
        if (token->n_pattern > 0) {
            *(token->normalized ? &added->first_normalized : &added->first_raw) |=
                filter_bit(token->pattern[0].code);
        }
    }
    return YOKE_OK;
}

static bool stands_at(const struct added_token *token, const struct normalized_char *chars,
                      size_t n, size_t at)
{
    if (token->n_pattern == 0 || token->n_pattern > n - at) {
        return false;
    }
    for (size_t i = 0; i < token->n_pattern; i++) {
        if (chars[at + i].code != token->pattern[i].code) {
            return false;
        }
    }
    return true;
}

/* The longest token at a position; of two with one pattern, the special one. */
static const struct added_token *match_at(const struct added_tokens *added, bool normalized,
                                          const struct normalized_char *chars, size_t n, size_t at)
{
    const struct added_token *best = NULL;
    for (size_t i = 0; i < added->n; i++) {
        const struct added_token *token = &added->tokens[i];
        if (token->normalized != normalized || !stands_at(token, chars, n, at)) {
            continue;
        }
        if (!best || token->n_pattern > best->n_pattern ||
            (token->n_pattern == best->n_pattern && token->special && !best->special)) {
            best = token;
        }
    }
    return best;
}

static bool is_white(uint32_t code)
{
    return unicode_flags(code) & UNICODE_WHITE;
}

/* Applies the token's flags to a match at begin..end; false when it does not stand alone as it
 * must. `floor` is the end of the span before it. */
static bool fit_span(const struct added_token *token, const struct normalized_char *chars, size_t n,
                     size_t floor, struct added_span *span)
{
    if (token->single_word && ((span->begin > 0 && unicode_is_word(chars[span->begin - 1].code)) ||
                               (span->end < n && unicode_is_word(chars[span->end].code)))) {
        return false;
    }
    while (token->lstrip && span->begin > floor && is_white(chars[span->begin - 1].code)) {
        span->begin--;
    }
    while (token->rstrip && span->end < n && is_white(chars[span->end].code)) {
        span->end++;
    }
    return true;
}

/* Finds the next match from cursor->search on into *span; false when there is none. */
static bool find_match(const struct added_tokens *added, bool normalized,
                       const struct normalized_char *chars, size_t n, struct added_cursor *cursor,
                       struct added_span *span)
{
    const uint64_t filter = normalized ? added->first_normalized : added->first_raw;
    size_t at = filter == 0 ? n : cursor->search;
    while (at < n) {
        const struct added_token *token =
            filter & filter_bit(chars[at].code) ? match_at(added, normalized, chars, n, at) : NULL;
        if (!token) {
            at++;
            continue;
        }
        *span = (struct added_span){token, at, at + token->n_pattern};
        at = span->end; /* a match that does not fit uses its text up all the same */
        if (fit_span(token, chars, n, cursor->position, span)) {
            cursor->search = span->end;
            return true;
        }
    }
    cursor->search = n;
    return false;
}

bool added_tokens_next(const struct added_tokens *added, bool normalized,
                       const struct normalized_char *chars, size_t n, struct added_cursor *cursor,
                       struct added_span *span_out)
{
    struct added_span match = cursor->pending;
    cursor->pending.token = NULL;
    if (!match.token) {
        if (cursor->position >= n) {
            return false;
        }
        if (!find_match(added, normalized, chars, n, cursor, &match)) {
            match = (struct added_span){NULL, cursor->position, n};
        } else if (match.begin > cursor->position) {
            cursor->pending = match;
            match = (struct added_span){NULL, cursor->position, match.begin};
        }
    }
    cursor->position = match.end;
    *span_out = match;
    return true;
}
