/* Start and end logits from the hidden states, their loss, and the way back. */
#include "learn/model/qa_model.h"

#include "base/core/arena.h"
#include "base/core/memory.h"
#include "compute/ops/dropout.h"
#include "compute/ops/linear.h"
#include "compute/ops/span_loss.h"
#include "learn/model/encoder_internal.h"

enum { N_LOGITS = 2 }; /* of a token: start, end */

struct qa_model {
    const struct model_config *config;
    const struct params *params;
    const struct compute *compute;
    struct encoder *encoder;
    struct arena arena;
    float *logits;  /* [T,2] */
    float *dlogits; /* [T,2]; training only, as the next two */
    float *dropped; /* [T,h] hidden states behind dropout */
    float *dhidden; /* [T,h] */
};

static yoke_status place_buffers(struct qa_model *model, size_t max_tokens, bool training)
{
    const size_t logit_bytes = max_tokens * N_LOGITS * sizeof(float);
    const size_t hidden_bytes = max_tokens * model->config->hidden * sizeof(float);
    YOKE_TRY(arena_init(&model->arena, 2 * arena_need(logit_bytes) +
                                           (training ? 2 * arena_need(hidden_bytes) : 0)));
    model->logits = arena_push(&model->arena, logit_bytes);
    model->dlogits = arena_push(&model->arena, logit_bytes);
    if (training) {
        model->dropped = arena_push(&model->arena, hidden_bytes);
        model->dhidden = arena_push(&model->arena, hidden_bytes);
    }
    return YOKE_OK;
}

yoke_status qa_model_create(const struct model_config *config, const struct params *params,
                            const struct compute *compute, size_t max_tokens, size_t max_seqs,
                            size_t max_len, bool training, struct qa_model **model_out)
{
    struct qa_model *model = NULL;
    yoke_status status = YOKE_OK;
    YOKE_TRY_GOTO(MEM_NEW(model, 1));
    model->config = config;
    model->params = params;
    model->compute = compute;
    YOKE_TRY_GOTO(place_buffers(model, max_tokens, training));
    YOKE_TRY_GOTO(encoder_create(config, params, compute, max_tokens, max_seqs, max_len, training,
                                 &model->encoder));
    *model_out = model;
    model = NULL;
done:
    qa_model_destroy(model);
    return status;
}

void qa_model_destroy(struct qa_model *model)
{
    if (model) {
        encoder_destroy(model->encoder);
        arena_fini(&model->arena);
        mem_free(model);
    }
}

static yoke_status head_forward(struct qa_model *model, const float *values,
                                const struct batch *batch, const float *hidden)
{
    return linear_forward(model->compute, batch->n_tokens, model->config->hidden, N_LOGITS, hidden,
                          values + model->params->head_weight, values + model->params->head_bias,
                          model->logits);
}

yoke_status qa_model_predict(struct qa_model *model, const float *values, const struct batch *batch,
                             const float **logits_out)
{
    const float *hidden;
    YOKE_TRY(encoder_forward(model->encoder, values, batch, NULL, &hidden));
    YOKE_TRY(head_forward(model, values, batch, hidden));
    *logits_out = model->logits;
    return YOKE_OK;
}

yoke_status qa_model_step(struct qa_model *model, const float *values, const struct batch *batch,
                          const struct encoder_dropout *dropout, float gradient_scale,
                          double *loss_out, float *gradients)
{
    const size_t n = batch->n_tokens;
    const size_t hidden_size = model->config->hidden;
    const struct token_addresses at = {.examples = batch->examples, .positions = batch->positions};
    const struct dropout site = {.p = dropout ? model->config->qa_dropout : 0.0f,
                                 .seed = dropout ? dropout->seed : 0,
                                 .step = dropout ? dropout->step : 0,
                                 .site = SITE_HEAD};
    const float *hidden;
    YOKE_TRY(encoder_forward(model->encoder, values, batch, dropout, &hidden));
    if (site.p > 0.0f) {
        dropout_apply(model->compute, &site, &at, n, hidden_size, hidden, model->dropped);
        hidden = model->dropped;
    }
    YOKE_TRY(head_forward(model, values, batch, hidden));
    span_loss(batch->n_seqs, batch->offsets, model->logits, batch->starts, batch->ends,
              gradient_scale, loss_out, model->dlogits);
    YOKE_TRY(linear_backward_weight(model->compute, n, hidden_size, N_LOGITS, model->dlogits, hidden,
                                    gradients + model->params->head_weight,
                                    gradients + model->params->head_bias));
    YOKE_TRY(linear_backward_input(model->compute, n, hidden_size, N_LOGITS, model->dlogits,
                                   values + model->params->head_weight, 0, model->dhidden));
    if (site.p > 0.0f) {
        dropout_apply(model->compute, &site, &at, n, hidden_size, model->dhidden, model->dhidden);
    }
    return encoder_backward(model->encoder, values, batch, dropout, model->dhidden, gradients);
}
