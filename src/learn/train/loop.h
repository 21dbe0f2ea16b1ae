/* The training loop: the job of the reference's Trainer.train.
 *
 * It knows ranks, steps, the optimizer, logs and checkpoints; the task behind `struct train_task`
 * knows examples, the model and its files. All ranks call it with the same arguments. */
#ifndef LEARN_TRAIN_LOOP_H
#define LEARN_TRAIN_LOOP_H

#include "learn/model/batch.h"
#include "learn/model/encoder.h"
#include "learn/model/params.h"
#include "learn/train/optimizer.h"
#include "learn/train/schedule.h"
#include "learn/train/train_options.h"
#include "learn/train/trainer_state.h"
#include "yoke/comm.h"

/* What is learnt. The functions get `context`. */
struct train_task {
    void *context;
    size_t n_examples;
    /* Appends an example to the batch, which has room for it. */
    void (*add)(void *context, size_t example, struct batch *batch);
    /* One forward and backward pass, as qa_model_step. */
    yoke_status (*step)(void *context, const float *values, const struct batch *batch,
                        const struct encoder_dropout *dropout, float gradient_scale,
                        double *loss_out, float *gradients);
    /* Collective: evaluates the present values and puts the results into `metrics` on the first
     * rank; NULL when there is nothing to evaluate on. */
    yoke_status (*evaluate)(void *context, json_t *metrics);
    /* First rank only: writes the model as users load it into an existing folder, which will be
     * known as `shown_as`: the name for log lines. */
    yoke_status (*save)(void *context, const char *folder, const char *shown_as);
};

struct train_run {
    const struct train_options *options;
    const struct train_task *task;
    yoke_comm *comm;
    const struct compute *compute;
    const struct params *params;
    float *values;                /* [optimizer_n_padded] of yoke_comm_alloc */
    size_t max_tokens;            /* of the largest possible batch of a rank */
    int64_t n_embedding_elements; /* parameters that only look up: they cost no operations */
    const char *resume_folder;    /* checkpoint to continue from, or NULL */
};

/* Trains to the end. `state` was made by trainer_state_init and tells afterwards how far the run
 * came; `metrics` gets the reference's train metrics. YOKE_ERR_NUMERIC when a loss or a gradient is
 * not a finite number: the weights in memory are then those before that step and no file was
 * written over. */
yoke_status train_loop(const struct train_run *run, struct trainer_state *state,
                       json_t *metrics) YOKE_MUST_USE;

#endif
