/* Writing a tokenizer folder. Every choice is written out, in each of the files where some version
 * of the reference looks for it, so that no default can change what the folder means. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/text/tokenizer_internal.h"

/* jansson's builders return NULL, and take NULL, without memory; one check at the end covers them
 * all. */
static yoke_status write_json(const char *folder, const char *name, json_t *json, bool complete)
{
    if (!json || !complete) {
        json_decref(json);
        return yoke_fail(YOKE_ERR_NO_MEMORY, "no memory to write %s/%s", folder, name);
    }
    char *path = str_path(folder, name);
    const yoke_status status = path ? json_write_file(path, json, 2, false) : YOKE_ERR_NO_MEMORY;
    mem_free(path);
    json_decref(json);
    return status;
}

static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static bool set_added_flags(json_t *entry, const struct added_token *token)
{
    return set(entry, "content", json_string(token->content)) &&
           set(entry, "single_word", json_boolean(token->single_word)) &&
           set(entry, "lstrip", json_boolean(token->lstrip)) &&
           set(entry, "rstrip", json_boolean(token->rstrip)) &&
           set(entry, "normalized", json_boolean(token->normalized)) &&
           set(entry, "special", json_boolean(token->special));
}

/* The added token with the smallest id from `id` on; NULL: none. The reference wants them in order.
 */
static const struct added_token *next_added(const struct added_tokens *added, uint32_t id)
{
    const struct added_token *next = NULL;
    for (size_t i = 0; i < added->n; i++) {
        const struct added_token *token = &added->tokens[i];
        if (token->id >= id && (!next || token->id < next->id)) {
            next = token;
        }
    }
    return next;
}

static json_t *build_added(const struct added_tokens *added, bool *complete)
{
    json_t *list = json_array();
    for (const struct added_token *token = next_added(added, 0); token;
         token = next_added(added, token->id + 1)) {
        json_t *entry = json_object();
        *complete &= set(entry, "id", json_integer(token->id)) && set_added_flags(entry, token) &&
                     json_array_append(list, entry) == 0;
        json_decref(entry);
    }
    return list;
}

static json_t *build_model(const struct tokenizer *tokenizer, bool *complete)
{
    json_t *vocab = json_object();
    for (size_t id = 0; id < tokenizer->vocab.n_tokens; id++) {
        if (tokenizer->vocab.tokens[id]) {
            *complete &= set(vocab, tokenizer->vocab.tokens[id], json_integer((json_int_t)id));
        }
    }
    return json_pack("{s:s, s:s, s:s, s:I, s:o}", "type", "WordPiece", "unk_token",
                     tokenizer->specials[SPECIAL_UNK], "continuing_subword_prefix",
                     tokenizer->prefix, "max_input_chars_per_word",
                     (json_int_t)tokenizer->max_word_chars, "vocab", vocab);
}

static json_t *build_special(const char *token, int type)
{
    return json_pack("{s:{s:s, s:i}}", "SpecialToken", "id", token, "type_id", type);
}

static json_t *build_sequence(const char *name, int type)
{
    return json_pack("{s:{s:s, s:i}}", "Sequence", "id", name, "type_id", type);
}

static json_t *build_template(const struct tokenizer *tokenizer)
{
    const char *cls = tokenizer->specials[SPECIAL_CLS];
    const char *sep = tokenizer->specials[SPECIAL_SEP];
    const json_int_t cls_id = tokenizer->special_ids[SPECIAL_CLS];
    const json_int_t sep_id = tokenizer->special_ids[SPECIAL_SEP];
    return json_pack("{s:s, s:[o, o, o], s:[o, o, o, o, o],"
                     " s:{s:{s:s, s:[I], s:[s]}, s:{s:s, s:[I], s:[s]}}}",
                     "type", "TemplateProcessing", "single", build_special(cls, 0),
                     build_sequence("A", 0), build_special(sep, 0), "pair", build_special(cls, 0),
                     build_sequence("A", 0), build_special(sep, 0), build_sequence("B", 1),
                     build_special(sep, 1), "special_tokens", cls, "id", cls, "ids", cls_id,
                     "tokens", cls, sep, "id", sep, "ids", sep_id, "tokens", sep);
}

static yoke_status save_json(const struct tokenizer *tokenizer, const char *folder)
{
    const struct normalizer_options *options = &tokenizer->normalizer;
    bool complete = true;
    json_t *added = build_added(&tokenizer->added, &complete);
    json_t *model = build_model(tokenizer, &complete);
    json_t *json = json_pack(
        "{s:s, s:n, s:n, s:o, s:{s:s, s:b, s:b, s:b, s:b}, s:{s:s}, s:o, s:{s:s, s:s, s:b}, s:o}",
        "version", "1.0", "truncation", "padding", "added_tokens", added, "normalizer", "type",
        "BertNormalizer", "clean_text", options->clean_text, "handle_chinese_chars",
        options->handle_chinese_chars, "strip_accents", options->strip_accents, "lowercase",
        options->lowercase, "pre_tokenizer", "type", "BertPreTokenizer", "post_processor",
        build_template(tokenizer), "decoder", "type", "WordPiece", "prefix", tokenizer->prefix,
        "cleanup", true, "model", model);
    return write_json(folder, "tokenizer.json", json, complete);
}

/* Whether the classes made for BERT would rebuild this tokenizer: they know neither another prefix,
 * nor another word limit, nor text left unclean. */
static bool fits_bert_class(const struct tokenizer *tokenizer)
{
    return tokenizer->normalizer.clean_text &&
           tokenizer->max_word_chars == TOKENIZER_MAX_WORD_CHARS &&
           strcmp(tokenizer->prefix, TOKENIZER_PREFIX) == 0;
}

static bool set_specials(const struct tokenizer *tokenizer, json_t *json)
{
    bool complete = true;
    for (int i = 0; i < N_SPECIALS; i++) {
        const char *name = tokenizer->specials[i];
        if (name) {
            complete &= set(json, special_token_keys[i], json_string(name));
        } else {
            (void)json_object_del(json, special_token_keys[i]);
        }
    }
    return complete;
}

static yoke_status save_config(const struct tokenizer *tokenizer, const char *folder)
{
    const struct normalizer_options *options = &tokenizer->normalizer;
    json_t *json = json_deep_copy(tokenizer->config);
    json_t *decoder = json_object();
    bool complete = true;
    for (const struct added_token *token = next_added(&tokenizer->added, 0); token;
         token = next_added(&tokenizer->added, token->id + 1)) {
        char key[16];
        snprintf(key, sizeof key, "%" PRIu32, token->id);
        json_t *entry = json_object();
        complete &= set_added_flags(entry, token) && json_object_set(decoder, key, entry) == 0;
        json_decref(entry);
    }
    complete &= set(json, "added_tokens_decoder", decoder) &&
                set(json, "do_lower_case", json_boolean(options->lowercase)) &&
                set(json, "strip_accents", json_boolean(options->strip_accents)) &&
                set(json, "tokenize_chinese_chars", json_boolean(options->handle_chinese_chars)) &&
                set_specials(tokenizer, json);
    if (!fits_bert_class(tokenizer)) {
        complete &= set(json, "tokenizer_class", json_string("PreTrainedTokenizerFast"));
    }
    return write_json(folder, "tokenizer_config.json", json, complete);
}

static yoke_status save_vocab(const struct tokenizer *tokenizer, const char *folder)
{
    const struct vocab *vocab = &tokenizer->vocab;
    struct str text = {0};
    yoke_status status = YOKE_OK;
    char *path = str_path(folder, "vocab.txt");
    if (!path) {
        return YOKE_ERR_NO_MEMORY;
    }
    for (size_t id = 0; id < vocab->n_tokens; id++) {
        const char *token = vocab->tokens[id];
        if (token && strpbrk(token, "\r\n")) {
            goto done; /* not one line: only tokenizer.json can say it */
        }
        YOKE_TRY_GOTO(str_append_text(&text, token ? token : ""));
        YOKE_TRY_GOTO(str_append(&text, "\n", 1));
    }
    YOKE_TRY_GOTO(file_write_all(path, text.text, text.len));
done:
    mem_free(path);
    str_fini(&text);
    return status;
}

yoke_status tokenizer_save(const struct tokenizer *tokenizer, const char *folder)
{
    YOKE_TRY(save_json(tokenizer, folder));
    YOKE_TRY(save_config(tokenizer, folder));
    json_t *map = json_object();
    const bool complete = set_specials(tokenizer, map);
    YOKE_TRY(write_json(folder, "special_tokens_map.json", map, complete));
    return save_vocab(tokenizer, folder);
}
