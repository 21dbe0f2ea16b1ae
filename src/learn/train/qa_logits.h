/* Logits of many features: the forward pass of an evaluation, shared by the ranks. */
#ifndef LEARN_TRAIN_QA_LOGITS_H
#define LEARN_TRAIN_QA_LOGITS_H

#include "learn/model/qa_model.h"
#include "learn/task/qa_features.h"
#include "yoke/comm.h"

struct qa_logits {
    float *values;          /* owned */
    const float **features; /* [n_features] each feature's [n_tokens,2]: start, end */
};

struct qa_logits_job {
    yoke_comm *comm;
    const struct compute *compute;
    const struct model_config *config;
    const struct params *params;
    const float *values;
    const struct qa_features *features;
    size_t batch_size;
    bool show_progress;
};

/* Appends feature `index` to the batch, under that number; its labels are the targets. */
void qa_logits_add_feature(const struct qa_features *features, size_t index, struct batch *batch);

/* The sum of the `n` longest features' tokens and, in *max_len_out, the longest: the largest batch
 * there can be. YOKE_ERR_NO_MEMORY is the only failure. */
yoke_status qa_logits_largest_batch(const struct qa_features *features, size_t n,
                                    size_t *max_tokens_out, size_t *max_len_out) YOKE_MUST_USE;

/* Collective: all ranks get all logits. Batches are the same for any number of ranks, and so are
 * the results. */
yoke_status qa_logits_compute(const struct qa_logits_job *job,
                              struct qa_logits *logits_out) YOKE_MUST_USE;
void qa_logits_fini(struct qa_logits *logits);

#endif
