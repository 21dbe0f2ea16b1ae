/* config.json, read through one table of keys per family.
 *
 * A row says where a key's value goes, its default and its range. Keys that would change the
 * computation in a way that the encoder does not have stand in a second table with the values that
 * are harmless; all other keys are kept for the save and have no meaning here. */
#include "learn/model/model_config.h"

#include <string.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "base/core/str.h"

enum field_type { FIELD_SIZE, FIELD_FLOAT };

struct field {
    const char *key;
    const char *alias; /* the reference reads this one too; NULL: none */
    enum field_type type;
    size_t offset; /* in struct model_config */
    double fallback;
    double least, most; /* floats: `most` itself is excluded */
};

/* Bounds keep every product of two sizes, and the sum over all layers, far from overflow. */
#define SIZE(key, alias, member, fallback, most)                                                   \
    {                                                                                              \
        key, alias, FIELD_SIZE, offsetof(struct model_config, member), fallback, 1, most           \
    }
#define SHARE(key, member, fallback)                                                               \
    {                                                                                              \
        key, NULL, FIELD_FLOAT, offsetof(struct model_config, member), fallback, 0, 1              \
    }

static const struct field distilbert_fields[] = {
    SIZE("vocab_size", NULL, vocab_size, 30522, 1 << 28),
    SIZE("dim", "hidden_size", hidden, 768, 1 << 16),
    SIZE("n_layers", "num_hidden_layers", n_layers, 6, 1 << 10),
    SIZE("n_heads", "num_attention_heads", n_heads, 12, 1 << 16),
    SIZE("hidden_dim", NULL, intermediate, 3072, 1 << 18),
    SIZE("max_position_embeddings", NULL, max_positions, 512, 1 << 20),
    SHARE("dropout", dropout, 0.1),
    SHARE("attention_dropout", attention_dropout, 0.1),
    SHARE("qa_dropout", qa_dropout, 0.1),
    SHARE("initializer_range", initializer_range, 0.02),
};

static const struct field bert_fields[] = {
    SIZE("vocab_size", NULL, vocab_size, 30522, 1 << 28),
    SIZE("hidden_size", NULL, hidden, 768, 1 << 16),
    SIZE("num_hidden_layers", NULL, n_layers, 12, 1 << 10),
    SIZE("num_attention_heads", NULL, n_heads, 12, 1 << 16),
    SIZE("intermediate_size", NULL, intermediate, 3072, 1 << 18),
    SIZE("max_position_embeddings", NULL, max_positions, 512, 1 << 20),
    SIZE("type_vocab_size", NULL, n_types, 2, 256),
    SHARE("hidden_dropout_prob", dropout, 0.1),
    SHARE("attention_probs_dropout_prob", attention_dropout, 0.1),
    SHARE("initializer_range", initializer_range, 0.02),
    SHARE("layer_norm_eps", norm_epsilon, 1e-12),
};

static const struct {
    const char *model_type;
    enum model_family family;
    const struct field *fields;
    size_t n_fields;
    const char *activation_key;
} families[] = {
    {"distilbert", MODEL_DISTILBERT, distilbert_fields,
     sizeof distilbert_fields / sizeof *distilbert_fields, "activation"},
    {"bert", MODEL_BERT, bert_fields, sizeof bert_fields / sizeof *bert_fields, "hidden_act"},
};

static const struct {
    const char *name;
    enum gelu_kind kind;
} activations[] = {
    {"gelu", GELU_ERF},       {"gelu_python", GELU_ERF},
    {"gelu_new", GELU_TANH},  {"gelu_pytorch_tanh", GELU_TANH},
    {"gelu_fast", GELU_TANH},
};

/* Keys that change the computation, and the value that does not; null, false and {} never do. */
static const struct {
    const char *key;
    const char *harmless;
} foreign_keys[] = {
    {"position_embedding_type", "absolute"}, {"is_decoder", NULL},
    {"add_cross_attention", NULL},           {"pruned_heads", NULL},
    {"quantization_config", NULL},
};

static yoke_status unsupported(const char *path, const char *key, const json_t *value)
{
    struct str text = {0};
    yoke_status status = json_print(&text, value, 0, false);
    if (status >= 0) {
        status =
            yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: \"%s\": %.100s is not supported by this version",
                      path, key, str_text(&text));
    }
    str_fini(&text);
    return status;
}

static yoke_status read_field(const char *path, const json_t *json, const struct field *field,
                              struct model_config *config)
{
    const json_t *value = json_object_get(json, field->key);
    if (!value && field->alias) {
        value = json_object_get(json, field->alias);
    }
    double number = field->fallback;
    if (value && !json_is_null(value)) {
        number = json_number_value(value);
        const bool right_type =
            field->type == FIELD_SIZE ? json_is_integer(value) : json_is_number(value);
        const bool below = field->type == FIELD_SIZE ? number <= field->most : number < field->most;
        if (!right_type || !(number >= field->least) || !below) {
            return yoke_fail(YOKE_ERR_FORMAT, "%s: \"%s\" must be %s from %.0f to %s%.0f", path,
                             field->key, field->type == FIELD_SIZE ? "a whole number" : "a number",
                             field->least, field->type == FIELD_SIZE ? "" : "below ", field->most);
        }
    }
    void *target = (char *)config + field->offset;
    if (field->type == FIELD_SIZE) {
        *(size_t *)target = (size_t)number;
    } else {
        *(float *)target = (float)number;
    }
    return YOKE_OK;
}

static yoke_status read_activation(const char *path, const json_t *json, const char *key,
                                   struct model_config *config)
{
    const json_t *value = json_object_get(json, key);
    const char *text = value ? json_string_value(value) : "gelu";
    for (size_t i = 0; text && i < sizeof activations / sizeof *activations; i++) {
        if (strcmp(text, activations[i].name) == 0) {
            config->gelu = activations[i].kind;
            return YOKE_OK;
        }
    }
    return unsupported(path, key, value);
}

static yoke_status read_padding(const char *path, const json_t *json, struct model_config *config)
{
    const json_t *value = json_object_get(json, "pad_token_id");
    config->padding_id = 0;
    if (json_is_null(value)) {
        config->padding_id = -1;
    } else if (value) {
        config->padding_id = json_integer_value(value);
        if (!json_is_integer(value) || config->padding_id < 0 ||
            (uint64_t)config->padding_id >= config->vocab_size) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: \"pad_token_id\" must be a token of the vocabulary, from 0 to "
                             "%zu, or null",
                             path, config->vocab_size - 1);
        }
    }
    return YOKE_OK;
}

static yoke_status check_foreign_keys(const char *path, const json_t *json)
{
    for (size_t i = 0; i < sizeof foreign_keys / sizeof *foreign_keys; i++) {
        const char *harmless = foreign_keys[i].harmless;
        const json_t *value = json_object_get(json, foreign_keys[i].key);
        const bool ignorable =
            !value || json_is_null(value) || json_is_false(value) ||
            (json_is_object(value) && json_object_size(value) == 0) ||
            (harmless && json_is_string(value) && strcmp(json_string_value(value), harmless) == 0);
        if (!ignorable) {
            return unsupported(path, foreign_keys[i].key, value);
        }
    }
    return YOKE_OK;
}

static yoke_status read_family(const char *path, const json_t *json, size_t *index_out)
{
    const json_t *value = json_object_get(json, "model_type");
    const char *text = json_string_value(value);
    for (size_t i = 0; text && i < sizeof families / sizeof *families; i++) {
        if (strcmp(text, families[i].model_type) == 0) {
            *index_out = i;
            return YOKE_OK;
        }
    }
    if (!text) {
        return yoke_fail(
            YOKE_ERR_FORMAT,
            "%s has no \"model_type\"; add \"distilbert\" or \"bert\", whichever it is", path);
    }
    return yoke_fail(YOKE_ERR_UNSUPPORTED,
                     "%s: model_type \"%s\" is not supported; this version has \"distilbert\" and "
                     "\"bert\"",
                     path, text);
}

static yoke_status read_json(const char *path, json_t *json, struct model_config *config_out)
{
    if (!json_is_object(json)) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: a model configuration is a JSON object", path);
    }
    struct model_config config = {.norm_epsilon = 1e-12f};
    size_t index;
    YOKE_TRY(read_family(path, json, &index));
    config.family = families[index].family;
    for (size_t i = 0; i < families[index].n_fields; i++) {
        YOKE_TRY(read_field(path, json, &families[index].fields[i], &config));
    }
    YOKE_TRY(read_activation(path, json, families[index].activation_key, &config));
    YOKE_TRY(read_padding(path, json, &config));
    config.sinusoidal_positions = config.family == MODEL_DISTILBERT &&
                                  json_is_true(json_object_get(json, "sinusoidal_pos_embds"));
    YOKE_TRY(check_foreign_keys(path, json));
    if (config.hidden % config.n_heads != 0) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: %zu attention heads do not divide the width %zu",
                         path, config.n_heads, config.hidden);
    }
    if (config.initializer_range == 0.0f) { /* the reference takes 0 for "not given" */
        config.initializer_range = 0.02f;
    }
    config.json = json_incref(json);
    *config_out = config;
    return YOKE_OK;
}

yoke_status model_config_read(const char *path, struct model_config *config_out)
{
    char *file = file_is_directory(path) ? str_path(path, "config.json") : mem_strdup(path);
    if (!file) {
        return YOKE_ERR_NO_MEMORY;
    }
    json_t *json = NULL;
    yoke_status status = json_read_file(file, &json);
    if (status >= 0) {
        status = read_json(file, json, config_out);
    }
    json_decref(json);
    mem_free(file);
    return status;
}

static bool has_two_labels(const json_t *json)
{
    const json_t *labels = json_object_get(json, "id2label");
    const json_t *n_labels = json_object_get(json, "num_labels");
    return (!labels || json_object_size(labels) == 2) &&
           (!n_labels || json_integer_value(n_labels) == 2);
}

/* Sets what a save sets: the class, and the weights' type under the name that the file knows it by
 * ("torch_dtype" before transformers 5). Labels of another task would make the reference build a
 * head of another width than the saved one, which has a start and an end. */
static int set_saved_keys(json_t *json, const char *architecture)
{
    int failed = json_object_set_new(json, "architectures", json_pack("[s]", architecture));
    const char *const dtype_keys[] = {"torch_dtype", "dtype"};
    const bool old_only = json_object_get(json, "torch_dtype") && !json_object_get(json, "dtype");
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? json_object_get(json, dtype_keys[i]) != NULL : !old_only) {
            failed |= json_object_set_new(json, dtype_keys[i], json_string("float32"));
        }
    }
    if (str_ends_with(architecture, "ForQuestionAnswering") && !has_two_labels(json)) {
        (void)json_object_del(json, "id2label"); /* fails when there is none, which is as well */
        (void)json_object_del(json, "label2id");
        (void)json_object_del(json, "num_labels");
    }
    return failed;
}

yoke_status model_config_write(const struct model_config *config, const char *architecture,
                               const char *folder)
{
    yoke_status status;
    json_t *json = json_deep_copy(config->json);
    char *path = str_path(folder, "config.json");
    if (!json || !path || set_saved_keys(json, architecture) != 0) {
        status =
            yoke_fail(YOKE_ERR_NO_MEMORY, "no memory to write the configuration to %s", folder);
        goto done;
    }
    YOKE_TRY_GOTO(json_write_file(path, json, 2, true));
done:
    json_decref(json);
    mem_free(path);
    return status;
}

void model_config_fini(struct model_config *config)
{
    json_decref(config->json);
    *config = (struct model_config){0};
}
