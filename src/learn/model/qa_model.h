/* Encoder + question-answering head: start and end logits, loss and gradients. */
#ifndef LEARN_MODEL_QA_MODEL_H
#define LEARN_MODEL_QA_MODEL_H

#include "learn/model/encoder.h"

struct qa_model;

/* As encoder_create. */
yoke_status qa_model_create(const struct model_config *config, const struct params *params,
                            const struct compute *compute, size_t max_tokens, size_t max_seqs,
                            size_t max_len, bool training, struct qa_model **model_out) YOKE_MUST_USE;
void qa_model_destroy(struct qa_model *model);

/* logits[n_tokens,2] (start, end), borrowed until the next call; no dropout. */
yoke_status qa_model_predict(struct qa_model *model, const float *values, const struct batch *batch,
                             const float **logits_out) YOKE_MUST_USE;

/* One forward and backward pass: *loss_out is the batch's mean loss; gradients += the gradient of
 * loss * gradient_scale. dropout NULL: none. */
yoke_status qa_model_step(struct qa_model *model, const float *values, const struct batch *batch,
                          const struct encoder_dropout *dropout, float gradient_scale, double *loss_out,
                          float *gradients) YOKE_MUST_USE;

#endif
