/* Reading tokenizer.json: one section after the other, each refused when it asks for anything but a
 * BERT tokenizer. Its truncation, padding and decoder sections are left alone: callers cut windows
 * themselves and the reference resets these two on every call. */
#include <string.h>

#include "base/core/memory.h"
#include "learn/text/tokenizer_internal.h"

yoke_status tokenizer_set_text(char **text_inout, const char *text)
{
    char *copy = mem_strdup(text);
    if (!copy) {
        return YOKE_ERR_NO_MEMORY;
    }
    mem_free(*text_inout);
    *text_inout = copy;
    return YOKE_OK;
}

yoke_status tokenizer_read_bool(const json_t *json, const char *key, const char *path,
                                bool *value_out)
{
    const json_t *value = json_object_get(json, key);
    if (!value || json_is_null(value)) {
        return YOKE_OK;
    }
    if (!json_is_boolean(value)) {
        return yoke_fail(YOKE_ERR_CONFIG, "%s: '%s' must be true, false or null", path, key);
    }
    *value_out = json_is_true(value);
    return YOKE_OK;
}

uint32_t tokenizer_find(const struct tokenizer *tokenizer, const char *token)
{
    const uint32_t id = vocab_find(&tokenizer->vocab, token, strlen(token));
    const struct added_token *added = added_tokens_find(&tokenizer->added, token);
    return id == VOCAB_NO_ID && added ? added->id : id;
}

/* The reference's rule: above every id in use, but at least the number of tokens. */
static uint32_t next_id(const struct tokenizer *tokenizer)
{
    size_t next = tokenizer->vocab.n_used;
    for (size_t i = 0; i < tokenizer->added.n; i++) {
        const size_t id = tokenizer->added.tokens[i].id;
        next = id >= next ? id + 1 : next;
    }
    return (uint32_t)next;
}

yoke_status tokenizer_add_token(struct tokenizer *tokenizer, struct added_token token, uint32_t id,
                                const char *path)
{
    const uint32_t known = tokenizer_find(tokenizer, token.content);
    token.id = known != VOCAB_NO_ID ? known : next_id(tokenizer);
    if (id != VOCAB_NO_ID && id != token.id) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: the added token '%s' has id %u, but its place in the "
                         "vocabulary is %u",
                         path, token.content, id, token.id);
    }
    return added_tokens_put(&tokenizer->added, &token);
}

yoke_status tokenizer_read_added(const json_t *json, const char *path,
                                 struct added_token *token_out)
{
    const char *content = json_string_value(json_object_get(json, "content"));
    if (!content || !*content) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: an added token has no 'content'", path);
    }
    struct added_token token = {.content = (char *)(uintptr_t)content};
    YOKE_TRY(tokenizer_read_bool(json, "special", path, &token.special));
    token.normalized = !token.special;
    YOKE_TRY(tokenizer_read_bool(json, "single_word", path, &token.single_word));
    YOKE_TRY(tokenizer_read_bool(json, "lstrip", path, &token.lstrip));
    YOKE_TRY(tokenizer_read_bool(json, "rstrip", path, &token.rstrip));
    YOKE_TRY(tokenizer_read_bool(json, "normalized", path, &token.normalized));
    *token_out = token;
    return YOKE_OK;
}

/* Checks that json[section].type is `type`, or missing where the oldest files left it out. */
static yoke_status check_type(const json_t *json, const char *section, const char *type,
                              bool may_miss, const char *path)
{
    const json_t *value = json_object_get(json, section);
    const char *found = json_string_value(json_object_get(value, "type"));
    if ((found && strcmp(found, type) == 0) || (!found && may_miss && json_is_object(value))) {
        return YOKE_OK;
    }
    return yoke_fail(YOKE_ERR_UNSUPPORTED,
                     "%s: %s is %s; only %s, the tokenizer of BERT and DistilBERT, "
                     "is supported",
                     path, section, found ? found : "missing", type);
}

static yoke_status read_vocab(struct tokenizer *tokenizer, json_t *vocab, const char *path)
{
    if (!json_is_object(vocab) || json_object_size(vocab) == 0) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: 'model.vocab' is not an object that gives tokens their "
                         "ids",
                         path);
    }
    const char *token;
    json_t *value;
    json_object_foreach(vocab, token, value)
    {
        const json_int_t id = json_is_integer(value) ? json_integer_value(value) : -1;
        if (id < 0 || id >= VOCAB_MAX_TOKENS) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: 'model.vocab': the id of '%s' is not a number "
                             "between 0 and %d",
                             path, token, VOCAB_MAX_TOKENS - 1);
        }
        const yoke_status status = vocab_add(&tokenizer->vocab, token, strlen(token), (uint32_t)id);
        YOKE_TRY(yoke_fail_prefix(status, "%s: 'model.vocab'", path));
    }
    return YOKE_OK;
}

static yoke_status read_model(struct tokenizer *tokenizer, const json_t *json, const char *path)
{
    const json_t *model = json_object_get(json, "model");
    YOKE_TRY(read_vocab(tokenizer, json_object_get(model, "vocab"), path));
    const char *prefix = json_string_value(json_object_get(model, "continuing_subword_prefix"));
    if (prefix) {
        YOKE_TRY(tokenizer_set_text(&tokenizer->prefix, prefix));
    }
    const char *unk = json_string_value(json_object_get(model, "unk_token"));
    if (unk) {
        YOKE_TRY(tokenizer_set_text(&tokenizer->specials[SPECIAL_UNK], unk));
    }
    const json_t *max_chars = json_object_get(model, "max_input_chars_per_word");
    if (max_chars) {
        if (!json_is_integer(max_chars) || json_integer_value(max_chars) < 0) {
            return yoke_fail(YOKE_ERR_FORMAT, "%s: 'model.max_input_chars_per_word' is not a count",
                             path);
        }
        tokenizer->max_word_chars = (size_t)json_integer_value(max_chars);
    }
    return YOKE_OK;
}

static yoke_status read_normalizer(struct tokenizer *tokenizer, const json_t *json,
                                   const char *path)
{
    const json_t *from = json_object_get(json, "normalizer");
    struct normalizer_options *options = &tokenizer->normalizer;
    YOKE_TRY(tokenizer_read_bool(from, "clean_text", path, &options->clean_text));
    YOKE_TRY(
        tokenizer_read_bool(from, "handle_chinese_chars", path, &options->handle_chinese_chars));
    YOKE_TRY(tokenizer_read_bool(from, "lowercase", path, &options->lowercase));
    options->strip_accents = options->lowercase;
    return tokenizer_read_bool(from, "strip_accents", path, &options->strip_accents);
}

static yoke_status read_added_tokens(struct tokenizer *tokenizer, const json_t *json,
                                     const char *path)
{
    const json_t *list = json_object_get(json, "added_tokens");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const json_t *id = json_object_get(entry, "id");
        struct added_token token;
        YOKE_TRY(tokenizer_read_added(entry, path, &token));
        if (!json_is_integer(id) || json_integer_value(id) < 0 ||
            json_integer_value(id) >= VOCAB_MAX_TOKENS) {
            return yoke_fail(YOKE_ERR_FORMAT, "%s: the added token '%s' has no id below %d", path,
                             token.content, VOCAB_MAX_TOKENS);
        }
        YOKE_TRY(tokenizer_add_token(tokenizer, token, (uint32_t)json_integer_value(id), path));
    }
    return YOKE_OK;
}

/* The special token at template[i], or NULL when something else stands there. */
static const char *template_special(const json_t *template, size_t i)
{
    const json_t *item = json_object_get(json_array_get(template, i), "SpecialToken");
    return json_string_value(json_object_get(item, "id"));
}

/* Takes the names of cls and sep from the post-processor: BertProcessing, or a template of the same
 * form, [CLS] A [SEP] and [CLS] A [SEP] B [SEP]. */
static yoke_status read_post_processor(struct tokenizer *tokenizer, const json_t *json,
                                       const char *path)
{
    const json_t *from = json_object_get(json, "post_processor");
    if (!from || json_is_null(from)) {
        return YOKE_OK;
    }
    const char *type = json_string_value(json_object_get(from, "type"));
    const char *cls = NULL;
    const char *sep = NULL;
    if (type && strcmp(type, "BertProcessing") == 0) {
        cls = json_string_value(json_array_get(json_object_get(from, "cls"), 0));
        sep = json_string_value(json_array_get(json_object_get(from, "sep"), 0));
    } else if (type && strcmp(type, "TemplateProcessing") == 0) {
        const json_t *single = json_object_get(from, "single");
        const json_t *pair = json_object_get(from, "pair");
        const bool fits = json_array_size(single) == 3 && json_array_size(pair) == 5 &&
                          template_special(pair, 0) && template_special(pair, 2) &&
                          template_special(pair, 4);
        cls = fits ? template_special(single, 0) : NULL;
        sep = fits ? template_special(single, 2) : NULL;
    }
    if (!cls || !sep) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: post_processor does not put '[CLS] A [SEP] B [SEP]' "
                         "together as BERT does",
                         path);
    }
    YOKE_TRY(tokenizer_set_text(&tokenizer->specials[SPECIAL_CLS], cls));
    return tokenizer_set_text(&tokenizer->specials[SPECIAL_SEP], sep);
}

yoke_status tokenizer_read_json(struct tokenizer *tokenizer, const json_t *json, const char *path)
{
    if (!json_is_object(json)) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: not a JSON object", path);
    }
    YOKE_TRY(check_type(json, "model", "WordPiece", true, path));
    YOKE_TRY(check_type(json, "normalizer", "BertNormalizer", false, path));
    YOKE_TRY(check_type(json, "pre_tokenizer", "BertPreTokenizer", false, path));
    YOKE_TRY(read_model(tokenizer, json, path));
    YOKE_TRY(read_normalizer(tokenizer, json, path));
    YOKE_TRY(read_added_tokens(tokenizer, json, path));
    return read_post_processor(tokenizer, json, path);
}
