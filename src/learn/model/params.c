/* The table of a model's parameters, and fresh values for them.
 *
 * One routine lays out both families: they have the same pieces in the same order of use and differ
 * in names alone, which stand in one table. Fresh values repeat what the reference's from_config
 * does with torch's generator, so that a seed gives the same start in both systems: it builds the
 * encoder's modules (whose constructors draw values that nobody keeps), draws the encoder's weights
 * in module order, then builds and draws the head. */
#include "learn/model/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/mt19937.h"

enum { ALIGNMENT = 16 };

struct family_names {
    const char *prefix, *layers;
    const char *query, *key, *value, *out, *attention_norm, *up, *down, *output_norm;
};

static const struct family_names names_of[] = {
    [MODEL_DISTILBERT] = {.prefix = "distilbert.",
                          .layers = "transformer.layer.",
                          .query = "attention.q_lin",
                          .key = "attention.k_lin",
                          .value = "attention.v_lin",
                          .out = "attention.out_lin",
                          .attention_norm = "sa_layer_norm",
                          .up = "ffn.lin1",
                          .down = "ffn.lin2",
                          .output_norm = "output_layer_norm"},
    [MODEL_BERT] = {.prefix = "bert.",
                    .layers = "encoder.layer.",
                    .query = "attention.self.query",
                    .key = "attention.self.key",
                    .value = "attention.self.value",
                    .out = "attention.output.dense",
                    .attention_norm = "attention.output.LayerNorm",
                    .up = "intermediate.dense",
                    .down = "output.dense",
                    .output_norm = "output.LayerNorm"},
};

const char *params_prefix(enum model_family family)
{
    return names_of[family].prefix;
}

const char *params_architecture(enum model_family family, enum head_kind head)
{
    static const char *const architectures[][HEAD_QA + 1] = {
        [MODEL_DISTILBERT] = {[HEAD_QA] = "DistilBertForQuestionAnswering"},
        [MODEL_BERT] = {[HEAD_QA] = "BertForQuestionAnswering"},
    };
    return architectures[family][head];
}

size_t param_size(const struct param *param)
{
    return param->columns == 0 ? param->rows : param->rows * param->columns;
}

/* Adds a piece right behind the last one. */
static size_t add_adjacent(struct params *params, size_t rows, size_t columns, bool decays,
                           enum param_init init)
{
    struct param *param = &params->table[params->n_params++];
    param->offset = params->n_elements;
    param->rows = rows;
    param->columns = columns;
    param->decays = decays;
    param->init = init;
    params->n_elements += param_size(param);
    params->n_trainable += param_size(param);
    return param->offset;
}

static void align(struct params *params)
{
    params->n_elements = (params->n_elements + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t add(struct params *params, size_t rows, size_t columns, bool decays,
                  enum param_init init)
{
    align(params);
    return add_adjacent(params, rows, columns, decays, init);
}

/* Names the piece added last: PREFIX [LAYERS.INDEX.] MODULE LEAF. The longest name of either family
 * with a layer number of 20 digits has 81 characters. */
static void name(struct params *params, const char *prefix, const char *module, const char *leaf)
{
    struct param *param = &params->table[params->n_params - 1];
    snprintf(param->name, sizeof param->name, "%s%s%s", prefix, module, leaf);
}

static size_t add_weight(struct params *params, const char *prefix, const char *module, size_t rows,
                         size_t columns)
{
    const size_t offset = add(params, rows, columns, true, PARAM_NORMAL);
    name(params, prefix, module, ".weight");
    return offset;
}

static size_t add_bias(struct params *params, const char *prefix, const char *module, size_t rows)
{
    const size_t offset = add(params, rows, 0, false, PARAM_ZERO);
    name(params, prefix, module, ".bias");
    return offset;
}

static void add_norm(struct params *params, const char *prefix, const char *module, size_t width,
                     size_t *gamma_out, size_t *beta_out)
{
    *gamma_out = add(params, width, 0, false, PARAM_ONE);
    name(params, prefix, module, ".weight");
    *beta_out = add(params, width, 0, false, PARAM_ZERO);
    name(params, prefix, module, ".bias");
}

/* Three pieces without gaps: one matrix [3h,h] or vector [3h] to the encoder. */
static void add_qkv(struct params *params, const char *prefix, const struct family_names *names,
                    size_t hidden, struct layer_params *layer)
{
    const char *const modules[3] = {names->query, names->key, names->value};
    align(params);
    layer->qkv_weight = params->n_elements;
    for (int i = 0; i < 3; i++) {
        add_adjacent(params, hidden, hidden, true, PARAM_NORMAL);
        name(params, prefix, modules[i], ".weight");
    }
    align(params);
    layer->qkv_bias = params->n_elements;
    for (int i = 0; i < 3; i++) {
        add_adjacent(params, hidden, 0, false, PARAM_ZERO);
        name(params, prefix, modules[i], ".bias");
    }
}

static void add_layer(struct params *params, const struct model_config *config, size_t index)
{
    const struct family_names *names = &names_of[config->family];
    struct layer_params *layer = &params->layers[index];
    const size_t hidden = config->hidden;
    const size_t intermediate = config->intermediate;
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s%s%zu.", names->prefix, names->layers, index);
    add_qkv(params, prefix, names, hidden, layer);
    layer->out_weight = add_weight(params, prefix, names->out, hidden, hidden);
    layer->out_bias = add_bias(params, prefix, names->out, hidden);
    add_norm(params, prefix, names->attention_norm, hidden, &layer->attention_norm_gamma,
             &layer->attention_norm_beta);
    layer->up_weight = add_weight(params, prefix, names->up, intermediate, hidden);
    layer->up_bias = add_bias(params, prefix, names->up, intermediate);
    layer->down_weight = add_weight(params, prefix, names->down, hidden, intermediate);
    layer->down_bias = add_bias(params, prefix, names->down, hidden);
    add_norm(params, prefix, names->output_norm, hidden, &layer->output_norm_gamma,
             &layer->output_norm_beta);
}

static void add_embeddings(struct params *params, const struct model_config *config)
{
    const char *prefix = names_of[config->family].prefix;
    const size_t hidden = config->hidden;
    params->word_table =
        add_weight(params, prefix, "embeddings.word_embeddings", config->vocab_size, hidden);
    params->table[params->n_params - 1].init = PARAM_NORMAL_PADDED;
    params->position_table =
        add_weight(params, prefix, "embeddings.position_embeddings", config->max_positions, hidden);
    if (config->sinusoidal_positions) {
        params->table[params->n_params - 1].init = PARAM_SINUSOIDAL;
    }
    if (config->n_types > 0) {
        params->type_table =
            add_weight(params, prefix, "embeddings.token_type_embeddings", config->n_types, hidden);
    }
    add_norm(params, prefix, "embeddings.LayerNorm", hidden, &params->embedding_norm_gamma,
             &params->embedding_norm_beta);
}

yoke_status params_init(const struct model_config *config, enum head_kind head,
                        struct params *params_out)
{
    enum { N_EMBEDDING = 5, N_PER_LAYER = 16, N_HEAD = 2, N_SPANS = 2 };
    if (head != HEAD_QA) {
        return yoke_fail(YOKE_ERR_INVALID, "params_init: no head of kind %d", (int)head);
    }
    struct params params = {.head = head};
    yoke_status status;
    YOKE_TRY_GOTO(MEM_NEW(params.table, N_EMBEDDING + N_PER_LAYER * config->n_layers + N_HEAD));
    YOKE_TRY_GOTO(MEM_NEW(params.layers, config->n_layers));
    add_embeddings(&params, config);
    for (size_t i = 0; i < config->n_layers; i++) {
        add_layer(&params, config, i);
    }
    params.head_weight = add_weight(&params, "", "qa_outputs", N_SPANS, config->hidden);
    params.head_bias = add_bias(&params, "", "qa_outputs", N_SPANS);
    align(&params);
    *params_out = params;
done:
    if (status < 0) {
        params_fini(&params);
    }
    return status;
}

void params_fini(struct params *params)
{
    mem_free(params->table);
    mem_free(params->layers);
    *params = (struct params){0};
}

/* A. Vaswani et al., arXiv:1706.03762, 3.5: sines in the even columns, cosines in the odd ones. */
static void fill_sinusoidal(float *x, size_t rows, size_t columns)
{
    for (size_t row = 0; row < rows; row++) {
        for (size_t j = 0; j < columns; j++) {
            const double pair = (double)(2 * (j / 2)) / (double)columns;
            const double angle = (double)row / pow(10000.0, pair);
            x[row * columns + j] = (float)(j % 2 == 0 ? sin(angle) : cos(angle));
        }
    }
}

void params_draw_one(const struct param *param, const struct model_config *config,
                     struct mt19937 *mt, float *values)
{
    float *x = values + param->offset;
    const size_t n = param_size(param);
    switch (param->init) {
    case PARAM_NORMAL:
    case PARAM_NORMAL_PADDED:
    case PARAM_SINUSOIDAL: /* the reference draws normals first and then overwrites them */
        mt19937_normal(mt, x, n, 0.0, config->initializer_range);
        if (param->init == PARAM_NORMAL_PADDED && config->padding_id >= 0) {
            memset(x + (size_t)config->padding_id * param->columns, 0, param->columns * sizeof *x);
        }
        if (param->init == PARAM_SINUSOIDAL) {
            fill_sinusoidal(x, param->rows, param->columns);
        }
        break;
    case PARAM_ZERO:
        memset(x, 0, n * sizeof *x);
        break;
    case PARAM_ONE:
        for (size_t i = 0; i < n; i++) {
            x[i] = 1.0f;
        }
        break;
    }
}

static void skip(struct mt19937 *mt, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        (void)mt19937_next(mt);
    }
}

static bool is_embedding(const struct params *params, const struct param *param)
{
    return param->offset < params->embedding_norm_gamma;
}

/* Passes over what the constructors of modules draw: an embedding is born standard normal, a linear
 * layer's weight and bias uniform (one number an element); norms are born constant. */
static void skip_constructors(const struct params *params, size_t first, size_t end,
                              struct mt19937 *mt)
{
    for (size_t i = first; i < end; i++) {
        const struct param *param = &params->table[i];
        const size_t n = param_size(param);
        const bool embedding = is_embedding(params, param);
        if (embedding && n < 16) { /* mt19937_normal's short path keeps half a pair for later */
            float unused[16];
            mt19937_normal(mt, unused, n, 0.0, 1.0);
        } else if (embedding) {
            skip(mt, n % 16 == 0 ? n : n + 16);
        } else if (!strstr(param->name, "LayerNorm") && !strstr(param->name, "layer_norm")) {
            skip(mt, n);
        }
    }
}

void params_draw(const struct params *params, const struct model_config *config, uint64_t seed,
                 float *values)
{
    struct mt19937 mt;
    mt19937_seed(&mt, seed);
    size_t head = 0;
    while (head < params->n_params && params->table[head].offset < params->head_weight) {
        head++;
    }
    const size_t bounds[] = {0, head, params->n_params};
    for (int part = 0; part < 2; part++) {
        skip_constructors(params, bounds[part], bounds[part + 1], &mt);
        for (size_t i = bounds[part]; i < bounds[part + 1]; i++) {
            params_draw_one(&params->table[i], config, &mt, values);
        }
    }
}
