/* Steps and learning rates, as the reference's Trainer counts them. */
#include "learn/train/schedule.h"

#include <math.h>

static double warmup_factor(const struct schedule *schedule, int64_t step)
{
    const int64_t w = schedule->n_warmup > 1 ? schedule->n_warmup : 1;
    return (double)step / (double)w;
}

double schedule_factor(const struct schedule *schedule, int64_t step)
{
    if (schedule->kind == SCHEDULE_CONSTANT) {
        return 1.0;
    }
    if (step < schedule->n_warmup) {
        return warmup_factor(schedule, step);
    }
    if (schedule->kind == SCHEDULE_CONSTANT_WITH_WARMUP) {
        return 1.0;
    }
    const int64_t span = schedule->n_steps - schedule->n_warmup;
    const double factor = (double)(schedule->n_steps - step) / (double)(span > 1 ? span : 1);
    return factor > 0.0 ? factor : 0.0;
}

yoke_status step_plan_make(size_t n_batches, size_t n_accumulated, double n_epochs,
                           int64_t max_steps, struct step_plan *plan_out)
{
    if (n_batches == 0) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "no batch to train on: the examples do not fill one batch of every "
                         "rank and --dataloader_drop_last is set; use a smaller "
                         "--per_device_train_batch_size");
    }
    const int64_t per_epoch = (int64_t)((n_batches + n_accumulated - 1) / n_accumulated);
    struct step_plan plan = {
        .n_batches = n_batches, .n_accumulated = n_accumulated, .steps_per_epoch = per_epoch};
    if (max_steps > 0) {
        plan.n_steps = max_steps;
        plan.n_epochs = (max_steps + per_epoch - 1) / per_epoch;
    } else {
        plan.n_steps = (int64_t)ceil(n_epochs * (double)per_epoch);
        plan.n_epochs = (int64_t)ceil(n_epochs);
    }
    if (plan.n_steps <= 0) {
        return yoke_fail(
            YOKE_ERR_INVALID,
            "nothing to train: --num_train_epochs %g gives no training step; use a larger "
            "value or --max_steps",
            n_epochs);
    }
    *plan_out = plan;
    return YOKE_OK;
}

void step_plan_locate(const struct step_plan *plan, int64_t step, int64_t *epoch_out,
                      size_t *begin_out, size_t *end_out)
{
    const size_t begin = (size_t)(step % plan->steps_per_epoch) * plan->n_accumulated;
    const size_t end = begin + plan->n_accumulated;
    *epoch_out = step / plan->steps_per_epoch;
    *begin_out = begin;
    *end_out = end < plan->n_batches ? end : plan->n_batches;
}

double step_plan_epoch(const struct step_plan *plan, int64_t steps)
{
    const int64_t whole = steps / plan->steps_per_epoch;
    const double batches = (double)(steps % plan->steps_per_epoch) * (double)plan->n_accumulated;
    return (double)whole + batches / (double)plan->n_batches;
}

yoke_status step_plan_interval(const char *name, double value, int64_t n_steps, int64_t *steps_out)
{
    if (value > 0.0 && value < 1.0) {
        *steps_out = (int64_t)ceil((double)n_steps * value);
        return YOKE_OK;
    }
    if (value < 1.0 || value != floor(value) || value > 1e15) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--%s %g is neither a number of steps (1, 2, ...) nor a share of the run "
                         "between 0 and 1",
                         name, value);
    }
    *steps_out = (int64_t)value;
    return YOKE_OK;
}

int64_t step_plan_warmup(double steps, double ratio, int64_t n_steps)
{
    if (steps >= 1.0) {
        return (int64_t)steps;
    }
    return (int64_t)ceil((double)n_steps * (steps > 0.0 ? steps : ratio));
}
