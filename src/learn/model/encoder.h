/* DistilBERT and BERT: packed tokens in, hidden states and gradients out.
 *
 * The encoder holds the activations of one batch and the scratch of every op, sized once; forward and backward
 * allocate nothing. Parameters and gradients are flat arrays laid out by struct params. */
#ifndef LEARN_MODEL_ENCODER_H
#define LEARN_MODEL_ENCODER_H

#include "compute/ops/compute.h"
#include "learn/model/batch.h"
#include "learn/model/model_config.h"
#include "learn/model/params.h"

struct encoder;

/* Sizes everything for batches of at most max_tokens tokens, max_seqs sequences of at most max_len tokens.
 * `training` false keeps no activations. config, params and compute are borrowed and outlive the encoder. */
yoke_status encoder_create(const struct model_config *config, const struct params *params,
                           const struct compute *compute, size_t max_tokens, size_t max_seqs, size_t max_len,
                           bool training, struct encoder **encoder_out) YOKE_MUST_USE;
void encoder_destroy(struct encoder *encoder);

/* When not NULL, dropout acts: the seed and the training step of its address. */
struct encoder_dropout {
    uint64_t seed;
    uint32_t step;
};

/* Hidden states [n_tokens, hidden] of the batch, borrowed until the next call. */
yoke_status encoder_forward(struct encoder *encoder, const float *values, const struct batch *batch,
                            const struct encoder_dropout *dropout, const float **hidden_out) YOKE_MUST_USE;

/* Adds the gradients of all encoder parameters to gradients[n_elements], from dhidden[n_tokens, hidden]
 * (overwritten) and the batch, values and dropout of the last forward. */
yoke_status encoder_backward(struct encoder *encoder, const float *values, const struct batch *batch,
                             const struct encoder_dropout *dropout, float *dhidden,
                             float *gradients) YOKE_MUST_USE;

#endif
