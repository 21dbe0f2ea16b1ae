/* Opening a tokenizer folder: which file counts for what.
 *
 * The vocabulary comes from tokenizer.json, else from vocab.txt. The classes of the reference that
 * are made for BERT then build the normaliser from tokenizer_config.json alone, and what that file
 * leaves out has the class's default, whatever tokenizer.json says; the generic classes take
 * tokenizer.json as it stands. special_tokens_map.json renames special tokens only where
 * tokenizer_config.json has no added_tokens_decoder, which superseded it. */
#include <string.h>

#include "base/core/file.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/text/tokenizer_internal.h"

/* Above any real model's: such a number in the file stands for "no limit" (the reference writes
 * 1e30). */
static const double NO_MAX_LENGTH = 1e15;

/* The files of one folder while it is read. */
struct folder {
    char *json_path;
    char *vocab_path;
    char *config_path;
    char *map_path;
    const char *vocab_source; /* the path that the vocabulary came from */
    json_t *json;             /* tokenizer.json, NULL: none */
    json_t *map;              /* special_tokens_map.json where it counts, NULL: not */
    bool generic;             /* tokenizer.json stands alone */
};

static void folder_fini(struct folder *folder)
{
    mem_free(folder->json_path);
    mem_free(folder->vocab_path);
    mem_free(folder->config_path);
    mem_free(folder->map_path);
    json_decref(folder->json);
    json_decref(folder->map);
}

static yoke_status read_object(const char *path, json_t **json_out)
{
    json_t *json;
    YOKE_TRY(json_read_file(path, &json));
    if (!json_is_object(json)) {
        json_decref(json);
        return yoke_fail(YOKE_ERR_FORMAT, "%s: not a JSON object", path);
    }
    *json_out = json;
    return YOKE_OK;
}

static yoke_status read_files(const char *path, struct folder *folder, json_t **config_out)
{
    folder->json_path = str_path(path, "tokenizer.json");
    folder->vocab_path = str_path(path, "vocab.txt");
    folder->config_path = str_path(path, "tokenizer_config.json");
    folder->map_path = str_path(path, "special_tokens_map.json");
    if (!folder->json_path || !folder->vocab_path || !folder->config_path || !folder->map_path) {
        return YOKE_ERR_NO_MEMORY;
    }
    if (file_exists(folder->json_path)) {
        folder->vocab_source = folder->json_path;
        YOKE_TRY(read_object(folder->json_path, &folder->json));
    } else if (file_exists(folder->vocab_path)) {
        folder->vocab_source = folder->vocab_path;
    } else {
        return yoke_fail(YOKE_ERR_NOT_FOUND,
                         "%s has neither tokenizer.json nor vocab.txt; give a folder "
                         "that holds the model's tokenizer",
                         path);
    }
    if (file_exists(folder->config_path)) {
        YOKE_TRY(read_object(folder->config_path, config_out));
    } else {
        *config_out = json_object();
    }
    if (!json_object_get(*config_out, "added_tokens_decoder") && file_exists(folder->map_path)) {
        YOKE_TRY(read_object(folder->map_path, &folder->map));
    }
    const char *class = json_string_value(json_object_get(*config_out, "tokenizer_class"));
    folder->generic =
        folder->json && class &&
        (strcmp(class, "PreTrainedTokenizerFast") == 0 || strcmp(class, "TokenizersBackend") == 0);
    return YOKE_OK;
}

static yoke_status read_vocab_text(const char *path, struct vocab *vocab)
{
    struct file_map map;
    YOKE_TRY(file_map_open(path, &map));
    const yoke_status status = vocab_parse(vocab, (const char *)map.data, map.size_bytes, path);
    file_map_close(&map);
    return status;
}

static const char *yes_or_no(bool value)
{
    return value ? "true" : "false";
}

/* The class's value of one normaliser option: the key's, else the default. Says so when that
 * overrides tokenizer.json by silence, for the user of a cased model would wonder. */
static yoke_status override(const struct folder *folder, const json_t *config, const char *key,
                            bool by_default, bool *value_inout)
{
    bool value = by_default;
    const json_t *given = json_object_get(config, key);
    YOKE_TRY(tokenizer_read_bool(config, key, folder->config_path, &value));
    if (folder->json && value != *value_inout && (!given || json_is_null(given))) {
        log_warning(
            "%s asks for %s = %s, but tokenizer_config.json does not set it, so that the BERT "
            "tokenizer's default %s counts; set it there to change that",
            folder->json_path, key, yes_or_no(*value_inout), yes_or_no(value));
    }
    *value_inout = value;
    return YOKE_OK;
}

static yoke_status override_normalizer(const struct folder *folder, const json_t *config,
                                       struct normalizer_options *options)
{
    if (folder->generic) {
        return YOKE_OK;
    }
    YOKE_TRY(override(folder, config, "do_lower_case", true, &options->lowercase));
    YOKE_TRY(
        override(folder, config, "strip_accents", options->lowercase, &options->strip_accents));
    return override(folder, config, "tokenize_chinese_chars", true, &options->handle_chinese_chars);
}

/* A token in tokenizer_config.json or special_tokens_map.json: a string, which is a special token,
 * or an object. token_out->content NULL: null, no such token. */
static yoke_status read_named(const json_t *value, const char *path, struct added_token *token_out)
{
    *token_out = (struct added_token){.special = true};
    if (json_is_string(value)) {
        token_out->content = (char *)(uintptr_t)json_string_value(value);
    } else if (json_is_object(value)) {
        YOKE_TRY(tokenizer_read_added(value, path, token_out));
        if (!json_object_get(value, "normalized")) {
            token_out->normalized = false;
        }
        token_out->special = true;
    } else if (!json_is_null(value)) {
        return yoke_fail(YOKE_ERR_CONFIG,
                         "%s: a special token must be a string, an object with 'content' "
                         "or null",
                         path);
    }
    return YOKE_OK;
}

/* Adds a token unless an added token with its content exists, whose flags then stay. */
static yoke_status add_missing(struct tokenizer *tokenizer, struct added_token token,
                               const char *path)
{
    if (!token.content || !*token.content || added_tokens_find(&tokenizer->added, token.content)) {
        return YOKE_OK;
    }
    return tokenizer_add_token(tokenizer, token, VOCAB_NO_ID, path);
}

/* tokenizer_config.json's added_tokens_decoder: {"0": {"content": ...}, ...}, in the order of ids.
 */
static yoke_status read_decoder(struct tokenizer *tokenizer, const char *path)
{
    json_t *decoder = json_object_get(tokenizer->config, "added_tokens_decoder");
    const size_t n = json_object_size(decoder);
    int64_t last = -1;
    for (size_t i = 0; i < n; i++) {
        const char *key;
        json_t *value;
        json_t *next_value = NULL;
        int64_t next =
            INT64_MAX; /* the smallest id above `last`: a handful of entries, no need to sort */
        json_object_foreach(decoder, key, value)
        {
            int64_t id;
            if (!str_to_int64(key, &id) || id < 0 || id >= VOCAB_MAX_TOKENS) {
                return yoke_fail(YOKE_ERR_CONFIG, "%s: 'added_tokens_decoder': '%s' is not an id",
                                 path, key);
            }
            if (id > last && id < next) {
                next = id;
                next_value = value;
            }
        }
        if (!next_value) {
            break;
        }
        struct added_token token;
        YOKE_TRY(tokenizer_read_added(next_value, path, &token));
        YOKE_TRY(tokenizer_add_token(tokenizer, token, (uint32_t)next, path));
        last = next;
    }
    return YOKE_OK;
}

/* The value of a key where special_tokens_map.json, if it counts, comes first; *path_out is its
 * file. */
static json_t *find_value(const struct tokenizer *tokenizer, const struct folder *folder,
                          const char *key, const char **path_out)
{
    json_t *value = json_object_get(folder->map, key);
    *path_out = value ? folder->map_path : folder->config_path;
    return value ? value : json_object_get(tokenizer->config, key);
}

static bool must_exist(enum special_token special)
{
    return special == SPECIAL_UNK || special == SPECIAL_CLS || special == SPECIAL_SEP;
}

/* Names, adds and numbers one of the five. A name that stands in a file makes a token even where
 * the vocabulary lacks it, as in the reference; the default names of padding and mask do not: the
 * model would have no row for them. */
static yoke_status read_special(struct tokenizer *tokenizer, const struct folder *folder,
                                enum special_token special)
{
    const char *path;
    const json_t *value = find_value(tokenizer, folder, special_token_keys[special], &path);
    struct added_token token = {.special = true, .content = tokenizer->specials[special]};
    if (value && !(json_is_null(value) && must_exist(special))) {
        YOKE_TRY(read_named(value, path, &token));
    }
    if (token.content && tokenizer_find(tokenizer, token.content) == VOCAB_NO_ID) {
        if (must_exist(special)) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: the token %s (%s) is missing among its %zu tokens; a "
                             "BERT vocabulary has it",
                             folder->vocab_source, token.content, special_token_keys[special],
                             tokenizer->vocab.n_used);
        }
        token.content = value ? token.content : NULL;
    }
    YOKE_TRY(add_missing(tokenizer, token, path));
    if (!token.content || !*token.content) {
        mem_free(tokenizer->specials[special]);
        tokenizer->specials[special] = NULL;
        return YOKE_OK;
    }
    char *name = NULL; /* token.content may be the name that is replaced */
    YOKE_TRY(tokenizer_set_text(&name, token.content));
    mem_free(tokenizer->specials[special]);
    tokenizer->specials[special] = name;
    tokenizer->special_ids[special] = tokenizer_find(tokenizer, name);
    return YOKE_OK;
}

static yoke_status read_extra(struct tokenizer *tokenizer, const struct folder *folder,
                              const char *key)
{
    const char *path;
    const json_t *list = find_value(tokenizer, folder, key, &path);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct added_token token;
        YOKE_TRY(read_named(json_array_get(list, i), path, &token));
        YOKE_TRY(add_missing(tokenizer, token, path));
    }
    return YOKE_OK;
}

static yoke_status read_max_length(struct tokenizer *tokenizer, const char *path)
{
    const json_t *value = json_object_get(tokenizer->config, "model_max_length");
    if (!value || json_is_null(value)) {
        return YOKE_OK;
    }
    const double length = json_is_number(value) ? json_number_value(value) : 0.0;
    if (!(length >= 1.0)) {
        return yoke_fail(YOKE_ERR_CONFIG, "%s: 'model_max_length' must be a positive number", path);
    }
    tokenizer->model_max_length = length < NO_MAX_LENGTH ? (size_t)length : SIZE_MAX;
    return YOKE_OK;
}

/* What holds where no file says otherwise. */
static yoke_status set_defaults(struct tokenizer *tokenizer)
{
    static const char *const names[N_SPECIALS] = {
        [SPECIAL_UNK] = "[UNK]", [SPECIAL_SEP] = "[SEP]",   [SPECIAL_PAD] = "[PAD]",
        [SPECIAL_CLS] = "[CLS]", [SPECIAL_MASK] = "[MASK]",
    };
    for (int i = 0; i < N_SPECIALS; i++) {
        YOKE_TRY(tokenizer_set_text(&tokenizer->specials[i], names[i]));
    }
    YOKE_TRY(tokenizer_set_text(&tokenizer->prefix, TOKENIZER_PREFIX));
    tokenizer->max_word_chars = TOKENIZER_MAX_WORD_CHARS;
    tokenizer->model_max_length = SIZE_MAX;
    tokenizer->normalizer = (struct normalizer_options){true, true, true, true};
    return YOKE_OK;
}

static yoke_status load(struct tokenizer *tokenizer, const char *path, struct folder *folder)
{
    YOKE_TRY(set_defaults(tokenizer));
    YOKE_TRY(read_files(path, folder, &tokenizer->config));
    if (folder->json) {
        YOKE_TRY(tokenizer_read_json(tokenizer, folder->json, folder->json_path));
    } else {
        YOKE_TRY(read_vocab_text(folder->vocab_path, &tokenizer->vocab));
    }
    YOKE_TRY(override_normalizer(folder, tokenizer->config, &tokenizer->normalizer));
    YOKE_TRY(read_max_length(tokenizer, folder->config_path));
    YOKE_TRY(read_decoder(tokenizer, folder->config_path));
    for (int i = 0; i < N_SPECIALS; i++) {
        YOKE_TRY(read_special(tokenizer, folder, (enum special_token)i));
    }
    YOKE_TRY(read_extra(tokenizer, folder, "additional_special_tokens"));
    YOKE_TRY(read_extra(tokenizer, folder, "extra_special_tokens"));
    YOKE_TRY(added_tokens_prepare(&tokenizer->added, &tokenizer->normalizer));
    return vocab_build_trie(&tokenizer->vocab, tokenizer->prefix);
}

yoke_status tokenizer_create(const char *folder, struct tokenizer **tokenizer_out)
{
    struct folder files = {0};
    struct tokenizer *tokenizer;
    YOKE_TRY(MEM_NEW(tokenizer, 1));
    const yoke_status status = load(tokenizer, folder, &files);
    folder_fini(&files);
    if (status < 0) {
        tokenizer_destroy(tokenizer);
        return status;
    }
    *tokenizer_out = tokenizer;
    return YOKE_OK;
}
