/* Sizes and places of a batch's activations. */
#include "learn/model/activations.h"

#include "base/core/memory.h"
#include "compute/ops/attention.h"
#include "compute/ops/layernorm.h"

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Either adds up what the pieces need (base NULL) or hands them out: one walk serves both, so that size
 * and layout cannot disagree. */
struct layout {
    struct arena *arena; /* NULL while measuring */
    size_t need_bytes;
    bool failed;
};

static void *place(struct layout *layout, size_t bytes)
{
    layout->need_bytes += arena_need(bytes);
    if (!layout->arena) {
        return NULL;
    }
    void *piece = arena_push(layout->arena, bytes);
    layout->failed = layout->failed || !piece;
    return piece;
}

static float *place_floats(struct layout *layout, size_t n)
{
    return place(layout, n * sizeof(float));
}

static void place_norm(struct layout *layout, size_t n_tokens, size_t hidden, bool training,
                       struct norm_activations *norm)
{
    norm->y = place_floats(layout, n_tokens * hidden);
    norm->xhat = training ? place_floats(layout, n_tokens * hidden) : NULL;
    norm->rstd = training ? place_floats(layout, n_tokens) : NULL;
}

static void place_layer(struct layout *layout, const struct model_config *config, size_t n_tokens,
                        bool training, struct layer_activations *layer)
{
    layer->qkv = place_floats(layout, n_tokens * 3 * config->hidden);
    layer->context = place_floats(layout, n_tokens * config->hidden);
    layer->lse = training ? place_floats(layout, n_tokens * config->n_heads) : NULL;
    layer->up = place_floats(layout, n_tokens * config->intermediate);
    place_norm(layout, n_tokens, config->hidden, training, &layer->attention_norm);
    place_norm(layout, n_tokens, config->hidden, training, &layer->output_norm);
}

/* Evaluation: every layer uses the first one's arrays; only the output alternates between its own and the
 * embedding's, for a layer reads the one before. */
static void share_layers(struct activations *activations, size_t n_layers)
{
    float *outputs[2] = {activations->layers[0].output_norm.y, activations->embedding.y};
    for (size_t i = 1; i < n_layers; i++) {
        activations->layers[i] = activations->layers[0];
        activations->layers[i].output_norm.y = outputs[i % 2];
    }
}

static void place_all(struct layout *layout, const struct model_config *config,
                      const struct compute *compute, size_t n_tokens, size_t max_len, bool training,
                      struct activations *activations)
{
    const size_t hidden = config->hidden;
    place_norm(layout, n_tokens, hidden, training, &activations->embedding);
    for (size_t i = 0; i < (training ? config->n_layers : 1); i++) {
        place_layer(layout, config, n_tokens, training, &activations->layers[i]);
    }
    activations->sublayer = place_floats(layout, n_tokens * hidden);
    activations->wide = place_floats(layout, n_tokens * larger(config->intermediate, 4 * hidden));
    activations->op_scratch =
        place(layout, larger(attention_scratch(compute, max_len, hidden / config->n_heads),
                             layernorm_backward_scratch(compute, hidden)));
}

yoke_status activations_init(struct activations *activations, const struct model_config *config,
                             const struct compute *compute, size_t max_tokens, size_t max_len,
                             bool training)
{
    *activations = (struct activations){0};
    YOKE_TRY(MEM_NEW(activations->layers, config->n_layers));
    struct layout measure = {0};
    place_all(&measure, config, compute, max_tokens, max_len, training, activations);
    yoke_status status = YOKE_OK;
    YOKE_TRY_GOTO(arena_init(&activations->arena, measure.need_bytes));
    struct layout layout = {.arena = &activations->arena};
    place_all(&layout, config, compute, max_tokens, max_len, training, activations);
    if (layout.failed) {
        status = YOKE_ERR_INTERNAL;
        goto done;
    }
    if (!training) {
        share_layers(activations, config->n_layers);
    }
done:
    if (status < 0) {
        activations_fini(activations);
    }
    return status;
}

void activations_fini(struct activations *activations)
{
    arena_fini(&activations->arena);
    mem_free(activations->layers);
    *activations = (struct activations){0};
}
