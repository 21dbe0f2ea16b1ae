/* The backward pass: encoder.c line by line from the end.
 *
 * Two [T,h] gradients take turns: `d`, the caller's, and `sublayer`. GELU's output is computed again rather
 * than kept: one pass over [T,f] against 4h floats of memory a token and layer. */
#include <assert.h>

#include "compute/ops/gelu.h"
#include "compute/ops/linear.h"
#include "learn/model/encoder_internal.h"

/* In: d = gradient of output_norm.y. Out: `da` = gradient of attention_norm.y; d is used up. */
static yoke_status feed_forward_backward(const struct pass *pass, size_t index, float *d, float *da,
                                         float *gradients)
{
    const struct encoder *encoder = pass->encoder;
    const struct compute *compute = encoder->compute;
    const struct model_config *config = encoder->config;
    const struct layer_params *params = &encoder->params->layers[index];
    const struct layer_activations *layer = &encoder->activations.layers[index];
    const float *values = pass->values;
    const size_t n = pass->batch->n_tokens;
    const size_t hidden = config->hidden;
    const size_t inter = config->intermediate;
    float *wide = encoder->activations.wide;
    const struct dropout on_output =
        pass_dropout(pass, config->dropout, encoder_site(index, SITE_OUTPUT));
    layernorm_backward(compute, &on_output, &pass->at, n, hidden, d, layer->output_norm.xhat,
                       layer->output_norm.rstd, values + params->output_norm_gamma, d, da, 0,
                       gradients + params->output_norm_gamma, gradients + params->output_norm_beta,
                       encoder->activations.op_scratch);
    gelu_forward(compute, config->gelu, n * inter, layer->up, wide);
    YOKE_TRY(linear_backward_weight(compute, n, inter, hidden, d, wide,
                                    gradients + params->down_weight, gradients + params->down_bias));
    YOKE_TRY(linear_backward_input(compute, n, inter, hidden, d, values + params->down_weight, 0,
                                   wide));
    gelu_backward(compute, config->gelu, n * inter, layer->up, wide, wide);
    YOKE_TRY(linear_backward_weight(compute, n, hidden, inter, wide, layer->attention_norm.y,
                                    gradients + params->up_weight, gradients + params->up_bias));
    return linear_backward_input(compute, n, hidden, inter, wide, values + params->up_weight, 1, da);
}

/* In: da = gradient of attention_norm.y (used up). Out: d = gradient of the layer's input x[T,h]. */
static yoke_status attend_backward(const struct pass *pass, size_t index, const float *x, float *da,
                                   float *d, float *gradients)
{
    const struct encoder *encoder = pass->encoder;
    const struct compute *compute = encoder->compute;
    const struct layer_params *params = &encoder->params->layers[index];
    const struct layer_activations *layer = &encoder->activations.layers[index];
    const float *values = pass->values;
    const size_t n = pass->batch->n_tokens;
    const size_t hidden = encoder->config->hidden;
    float *dcontext = encoder->activations.wide;
    float *dqkv = dcontext + n * hidden;
    const struct dropout on_output = pass_attention_output_dropout(pass, index);
    layernorm_backward(compute, &on_output, &pass->at, n, hidden, da, layer->attention_norm.xhat,
                       layer->attention_norm.rstd, values + params->attention_norm_gamma, da, d, 0,
                       gradients + params->attention_norm_gamma,
                       gradients + params->attention_norm_beta, encoder->activations.op_scratch);
    YOKE_TRY(linear_backward_weight(compute, n, hidden, hidden, da, layer->context,
                                    gradients + params->out_weight, gradients + params->out_bias));
    YOKE_TRY(linear_backward_input(compute, n, hidden, hidden, da, values + params->out_weight, 0,
                                   dcontext));
    const struct dropout on_scores = pass_dropout(pass, encoder->config->attention_dropout,
                                                  encoder_site(index, SITE_ATTENTION));
    attention_backward(compute, &pass->shape, &on_scores, &pass->at, layer->qkv, layer->context,
                       layer->lse, dcontext, dqkv, encoder->activations.op_scratch);
    YOKE_TRY(linear_backward_weight(compute, n, hidden, 3 * hidden, dqkv, x,
                                    gradients + params->qkv_weight, gradients + params->qkv_bias));
    return linear_backward_input(compute, n, hidden, 3 * hidden, dqkv, values + params->qkv_weight,
                                 1, d);
}

static void embed_backward(const struct pass *pass, float *d, float *gradients)
{
    const struct encoder *encoder = pass->encoder;
    const struct params *params = encoder->params;
    const struct norm_activations *norm = &encoder->activations.embedding;
    const size_t n = pass->batch->n_tokens;
    const size_t hidden = encoder->config->hidden;
    const struct dropout dropout = pass_dropout(pass, encoder->config->dropout, SITE_EMBEDDING);
    if (dropout.p > 0.0f) {
        dropout_apply(encoder->compute, &dropout, &pass->at, n, hidden, d, d);
    }
    layernorm_backward(encoder->compute, NULL, &pass->at, n, hidden, d, norm->xhat, norm->rstd,
                       pass->values + params->embedding_norm_gamma, d, NULL, 0,
                       gradients + params->embedding_norm_gamma,
                       gradients + params->embedding_norm_beta, encoder->activations.op_scratch);
    const struct embedding embedding = pass_embedding(pass);
    embedding_backward(encoder->compute, &embedding, d, gradients + params->word_table,
                       gradients + params->position_table,
                       embedding.types ? gradients + params->type_table : NULL);
}

yoke_status encoder_backward(struct encoder *encoder, const float *values,
                             const struct batch *batch, const struct encoder_dropout *dropout,
                             float *dhidden, float *gradients)
{
    assert(encoder->training);
    const struct pass pass = pass_begin(encoder, values, batch, dropout);
    for (size_t i = encoder->config->n_layers; i-- > 0;) {
        const float *x = i > 0 ? encoder->activations.layers[i - 1].output_norm.y
                               : encoder->activations.embedding.y;
        float *da = encoder->activations.sublayer;
        YOKE_TRY(feed_forward_backward(&pass, i, dhidden, da, gradients));
        YOKE_TRY(attend_backward(&pass, i, x, da, dhidden, gradients));
    }
    embed_backward(&pass, dhidden, gradients);
    return YOKE_OK;
}
