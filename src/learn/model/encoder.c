/* The forward pass of DistilBERT and BERT over packed tokens; encoder_backward.c is its mirror.
 *
 * Post-norm layers (J. Devlin et al., arXiv:1810.04805; V. Sanh et al., arXiv:1910.01108):
 *     a = LN(x + drop(out(attention(qkv(x)))))      BERT drops here, DistilBERT does not
 *     y = LN(a + drop(down(gelu(up(a)))))
 * T tokens of the batch, h hidden, f intermediate. */
#include "learn/model/encoder.h"

#include <assert.h>
#include <math.h>

#include "base/core/memory.h"
#include "compute/ops/gelu.h"
#include "compute/ops/linear.h"
#include "learn/model/encoder_internal.h"

yoke_status encoder_create(const struct model_config *config, const struct params *params,
                           const struct compute *compute, size_t max_tokens, size_t max_seqs,
                           size_t max_len, bool training, struct encoder **encoder_out)
{
    struct encoder *encoder = NULL;
    YOKE_TRY(MEM_NEW(encoder, 1));
    encoder->config = config;
    encoder->params = params;
    encoder->compute = compute;
    encoder->max_tokens = max_tokens;
    encoder->max_seqs = max_seqs;
    encoder->max_len = max_len;
    encoder->training = training;
    const yoke_status status =
        activations_init(&encoder->activations, config, compute, max_tokens, max_len, training);
    if (status < 0) {
        encoder_destroy(encoder);
        return status;
    }
    *encoder_out = encoder;
    return YOKE_OK;
}

void encoder_destroy(struct encoder *encoder)
{
    if (encoder) {
        activations_fini(&encoder->activations);
        mem_free(encoder);
    }
}

struct pass pass_begin(const struct encoder *encoder, const float *values,
                       const struct batch *batch, const struct encoder_dropout *dropout)
{
    const size_t head_dim = encoder->config->hidden / encoder->config->n_heads;
    return (struct pass){
        .encoder = encoder,
        .values = values,
        .batch = batch,
        .dropout = dropout,
        .at = {.examples = batch->examples, .positions = batch->positions},
        .shape = {.n_seqs = batch->n_seqs,
                  .offsets = batch->offsets,
                  .max_len = batch->max_len,
                  .n_heads = encoder->config->n_heads,
                  .head_dim = head_dim,
                  .scale = 1.0f / sqrtf((float)head_dim)},
    };
}

struct dropout pass_dropout(const struct pass *pass, float p, uint32_t site)
{
    if (!pass->dropout) {
        return (struct dropout){0};
    }
    return (struct dropout){
        .p = p, .seed = pass->dropout->seed, .step = pass->dropout->step, .site = site};
}

struct dropout pass_attention_output_dropout(const struct pass *pass, size_t layer)
{
    const struct model_config *config = pass->encoder->config;
    const float p = config->family == MODEL_BERT ? config->dropout : 0.0f;
    return pass_dropout(pass, p, encoder_site(layer, SITE_ATTENTION_OUTPUT));
}

struct embedding pass_embedding(const struct pass *pass)
{
    const struct model_config *config = pass->encoder->config;
    return (struct embedding){
        .n = pass->batch->n_tokens,
        .width = config->hidden,
        .ids = pass->batch->ids,
        .positions = pass->batch->positions,
        .types = config->n_types > 0 ? pass->batch->types : NULL,
        .padding_id = config->padding_id,
    };
}

/* x[T,h] = drop(LN(word + position + type)). */
static void embed(const struct pass *pass)
{
    const struct encoder *encoder = pass->encoder;
    const struct params *params = encoder->params;
    const struct norm_activations *norm = &encoder->activations.embedding;
    const float *values = pass->values;
    const size_t n = pass->batch->n_tokens;
    const size_t hidden = encoder->config->hidden;
    const struct embedding embedding = pass_embedding(pass);
    embedding_forward(encoder->compute, &embedding, values + params->word_table,
                      values + params->position_table,
                      embedding.types ? values + params->type_table : NULL, norm->y);
    layernorm_forward(encoder->compute, NULL, &pass->at, n, hidden, encoder->config->norm_epsilon,
                      norm->y, NULL, values + params->embedding_norm_gamma,
                      values + params->embedding_norm_beta, norm->y, norm->xhat, norm->rstd);
    const struct dropout dropout = pass_dropout(pass, encoder->config->dropout, SITE_EMBEDDING);
    if (dropout.p > 0.0f) {
        dropout_apply(encoder->compute, &dropout, &pass->at, n, hidden, norm->y, norm->y);
    }
}

/* attention_norm.y[T,h] from x[T,h]. */
static yoke_status attend(const struct pass *pass, size_t index, const float *x)
{
    const struct encoder *encoder = pass->encoder;
    const struct compute *compute = encoder->compute;
    const struct layer_params *params = &encoder->params->layers[index];
    const struct layer_activations *layer = &encoder->activations.layers[index];
    const float *values = pass->values;
    const size_t n = pass->batch->n_tokens;
    const size_t hidden = encoder->config->hidden;
    float *sublayer = encoder->activations.sublayer;
    YOKE_TRY(linear_forward(compute, n, hidden, 3 * hidden, x, values + params->qkv_weight,
                            values + params->qkv_bias, layer->qkv));
    const struct dropout on_scores =
        pass_dropout(pass, encoder->config->attention_dropout, encoder_site(index, SITE_ATTENTION));
    attention_forward(compute, &pass->shape, &on_scores, &pass->at, layer->qkv, layer->context,
                      layer->lse, encoder->activations.op_scratch);
    YOKE_TRY(linear_forward(compute, n, hidden, hidden, layer->context, values + params->out_weight,
                            values + params->out_bias, sublayer));
    const struct dropout on_output = pass_attention_output_dropout(pass, index);
    const struct norm_activations *norm = &layer->attention_norm;
    layernorm_forward(compute, &on_output, &pass->at, n, hidden, encoder->config->norm_epsilon,
                      sublayer, x, values + params->attention_norm_gamma,
                      values + params->attention_norm_beta, norm->y, norm->xhat, norm->rstd);
    return YOKE_OK;
}

/* output_norm.y[T,h] from attention_norm.y[T,h]. */
static yoke_status feed_forward(const struct pass *pass, size_t index)
{
    const struct encoder *encoder = pass->encoder;
    const struct compute *compute = encoder->compute;
    const struct model_config *config = encoder->config;
    const struct layer_params *params = &encoder->params->layers[index];
    const struct layer_activations *layer = &encoder->activations.layers[index];
    const float *values = pass->values;
    const size_t n = pass->batch->n_tokens;
    float *sublayer = encoder->activations.sublayer;
    float *activated = encoder->activations.wide;
    YOKE_TRY(linear_forward(compute, n, config->hidden, config->intermediate,
                            layer->attention_norm.y, values + params->up_weight,
                            values + params->up_bias, layer->up));
    gelu_forward(compute, config->gelu, n * config->intermediate, layer->up, activated);
    YOKE_TRY(linear_forward(compute, n, config->intermediate, config->hidden, activated,
                            values + params->down_weight, values + params->down_bias, sublayer));
    const struct dropout on_output =
        pass_dropout(pass, config->dropout, encoder_site(index, SITE_OUTPUT));
    const struct norm_activations *norm = &layer->output_norm;
    layernorm_forward(compute, &on_output, &pass->at, n, config->hidden, config->norm_epsilon,
                      sublayer, layer->attention_norm.y, values + params->output_norm_gamma,
                      values + params->output_norm_beta, norm->y, norm->xhat, norm->rstd);
    return YOKE_OK;
}

yoke_status encoder_forward(struct encoder *encoder, const float *values, const struct batch *batch,
                            const struct encoder_dropout *dropout, const float **hidden_out)
{
    assert(batch->n_tokens <= encoder->max_tokens && batch->n_seqs <= encoder->max_seqs &&
           batch->max_len <= encoder->max_len);
    const struct pass pass = pass_begin(encoder, values, batch, dropout);
    embed(&pass);
    const float *x = encoder->activations.embedding.y;
    for (size_t i = 0; i < encoder->config->n_layers; i++) {
        YOKE_TRY(attend(&pass, i, x));
        YOKE_TRY(feed_forward(&pass, i));
        x = encoder->activations.layers[i].output_norm.y;
    }
    *hidden_out = x;
    return YOKE_OK;
}
