/* How long a run is and how its learning rate moves: arithmetic only. */
#ifndef LEARN_TRAIN_SCHEDULE_H
#define LEARN_TRAIN_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

enum schedule_kind { SCHEDULE_LINEAR, SCHEDULE_CONSTANT, SCHEDULE_CONSTANT_WITH_WARMUP };

struct schedule {
    enum schedule_kind kind;
    int64_t n_warmup; /* training steps */
    int64_t n_steps;  /* of the whole run */
};

/* The factor of the learning rate at training step `step` (0 for the first). Linear: step/max(1,w)
 * during warm-up, so the first step of a warm-up is 0, then (T-step)/max(1,T-w), never below 0. */
double schedule_factor(const struct schedule *schedule, int64_t step);

/* A run in training steps. A training step is one update of the weights: up to n_accumulated
 * batches of every rank; the last step of an epoch takes the batches that are left. */
struct step_plan {
    size_t n_batches;     /* of a rank in an epoch, at least 1 */
    size_t n_accumulated; /* batches per training step */
    int64_t steps_per_epoch;
    int64_t n_steps;  /* T */
    int64_t n_epochs; /* epochs begun */
};

/* T = ceil(epochs * steps per epoch) unless max_steps > 0 sets it. YOKE_ERR_INVALID when nothing is
 * left to do (no batch, no step). */
yoke_status step_plan_make(size_t n_batches, size_t n_accumulated, double n_epochs,
                           int64_t max_steps, struct step_plan *plan_out) YOKE_MUST_USE;

/* Training step `step` (0-based, of the whole run) is in epoch *epoch_out and takes the batches
 * [*begin_out, *end_out) of that epoch. */
void step_plan_locate(const struct step_plan *plan, int64_t step, int64_t *epoch_out,
                      size_t *begin_out, size_t *end_out);

/* Epochs completed after `steps` training steps, as a fraction: 0.5 in the middle of the first. */
double step_plan_epoch(const struct step_plan *plan, int64_t steps);

/* "Every so many steps" as users write it: a value below 1 is a share of T (rounded up), 1 and
 * above a number of steps. `name` stands in the error for a value that is neither. */
yoke_status step_plan_interval(const char *name, double value, int64_t n_steps,
                               int64_t *steps_out) YOKE_MUST_USE;

/* Warm-up steps: `steps` when >= 1, ceil(T*steps) when between 0 and 1, else ceil(T*ratio). */
int64_t step_plan_warmup(double steps, double ratio, int64_t n_steps);

#endif
