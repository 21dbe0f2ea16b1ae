/* Train: steps, logs, evaluations and checkpoints in the reference's order.
 *
 * Nothing here remembers more than the number of the training step: the order of the examples, the
 * learning rate and dropout are functions of it, so a resumed run continues bit for bit. Dropout's
 * address holds the training step, not the batch, so that accumulated small batches see the masks
 * of one large batch. */
#include "learn/train/loop.h"

#include <math.h>
#include <stdio.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "base/term/terminal.h"
#include "learn/train/checkpoint.h"
#include "learn/train/reports.h"
#include "learn/train/sampler.h"

struct loop {
    const struct train_run *run;
    struct trainer_state *state;
    struct optimizer optimizer;
    struct sampler sampler;
    struct step_plan plan;
    struct schedule schedule;
    struct batch batch;
    size_t *examples; /* [batch size] numbers of the present batch */
    int64_t epoch;    /* whose order the sampler holds */
    bool is_first_rank;
    struct progress progress;
    double busy; /* seconds spent in training steps, without evaluations and checkpoints */
    double tokens_at_start;
    int64_t first_step;
    /* Of this run: sums of the mean losses since the last log and since the start. */
    double logged_loss, total_loss;
    int64_t last_logged;
    double norm, learning_rate; /* of the last step */
};

static size_t total_batch_size(const struct loop *loop)
{
    const struct train_options *o = loop->run->options;
    return (size_t)o->per_device_train_batch_size * (size_t)o->gradient_accumulation_steps *
           (size_t)yoke_comm_size(loop->run->comm);
}

static yoke_status plan_intervals(struct loop *loop)
{
    const struct train_options *o = loop->run->options;
    struct trainer_state *state = loop->state;
    const int64_t n = loop->plan.n_steps;
    YOKE_TRY(step_plan_interval("logging_steps", o->logging_steps, n, &state->logging_steps));
    YOKE_TRY(step_plan_interval("save_steps", o->save_steps, n, &state->save_steps));
    const double eval_steps = o->eval_steps > 0.0 ? o->eval_steps : o->logging_steps;
    return step_plan_interval("eval_steps", eval_steps, n, &state->eval_steps);
}

static yoke_status plan_run(struct loop *loop)
{
    const struct train_options *o = loop->run->options;
    const struct sampler_shape shape = {
        .n_examples = loop->run->task->n_examples,
        .batch_size = (size_t)o->per_device_train_batch_size,
        .rank = (size_t)yoke_comm_rank(loop->run->comm),
        .world = (size_t)yoke_comm_size(loop->run->comm),
        .drop_last = o->dataloader_drop_last,
    };
    YOKE_TRY(step_plan_make(sampler_n_batches(&shape), (size_t)o->gradient_accumulation_steps,
                            o->num_train_epochs, o->max_steps, &loop->plan));
    loop->schedule = (struct schedule){
        .kind = train_options_schedule(o),
        .n_warmup = step_plan_warmup(o->warmup_steps, o->warmup_ratio, loop->plan.n_steps),
        .n_steps = loop->plan.n_steps,
    };
    loop->state->max_steps = loop->plan.n_steps;
    loop->state->n_epochs = loop->plan.n_epochs;
    loop->state->train_batch_size = o->per_device_train_batch_size;
    loop->state->shows_tokens = o->include_num_input_tokens_seen;
    YOKE_TRY(plan_intervals(loop));
    const int64_t seed = o->data_seed >= 0 ? o->data_seed : o->seed;
    YOKE_TRY(sampler_init(&loop->sampler, &shape, (uint64_t)seed));
    YOKE_TRY(MEM_NEW(loop->examples, shape.batch_size));
    return batch_init(&loop->batch, loop->run->max_tokens, shape.batch_size);
}

static void log_start(const struct loop *loop)
{
    const struct train_options *o = loop->run->options;
    char number[32];
    log_info("***** Running training *****");
    log_info("  Num examples = %s", str_thousands((int64_t)loop->run->task->n_examples, number));
    log_info("  Num Epochs = %s", str_thousands(loop->plan.n_epochs, number));
    log_info("  Instantaneous batch size per device = %s",
             str_thousands(o->per_device_train_batch_size, number));
    log_info("  Total train batch size (w. parallel, distributed & accumulation) = %s",
             str_thousands((int64_t)total_batch_size(loop), number));
    log_info("  Gradient Accumulation steps = %lld", (long long)o->gradient_accumulation_steps);
    log_info("  Total optimization steps = %s", str_thousands(loop->plan.n_steps, number));
    log_info("  Number of trainable parameters = %s",
             str_thousands((int64_t)loop->run->params->n_trainable, number));
}

static void log_resumed(const struct loop *loop)
{
    int64_t epoch;
    size_t begin, end;
    step_plan_locate(&loop->plan, loop->state->global_step, &epoch, &begin, &end);
    log_info("  Continuing training from checkpoint %s", loop->run->resume_folder);
    log_info("  Continuing training from epoch %lld", (long long)epoch);
    log_info("  Continuing training from global step %lld", (long long)loop->state->global_step);
    if (loop->state->global_step < loop->plan.n_steps) {
        log_info("  The first %zu batches of the epoch were trained on before.", begin);
    } else {
        log_info("  The checkpoint is the end of this run; nothing is left to train.");
    }
}

static yoke_status open_run(struct loop *loop)
{
    const struct train_options *o = loop->run->options;
    const struct optimizer_options options = {
        .beta1 = o->adam_beta1,
        .beta2 = o->adam_beta2,
        .epsilon = o->adam_epsilon,
        .weight_decay = o->weight_decay,
        .max_norm = o->max_grad_norm,
    };
    YOKE_TRY(plan_run(loop));
    YOKE_TRY(optimizer_init(&loop->optimizer, &options, loop->run->comm, loop->run->compute,
                            loop->run->params, loop->run->values));
    if (loop->run->resume_folder) {
        YOKE_TRY(
            checkpoint_load(loop->run, loop->run->resume_folder, &loop->optimizer, loop->state));
    }
    if (loop->is_first_rank) {
        log_start(loop);
        if (loop->run->resume_folder) {
            log_resumed(loop);
        }
    }
    loop->first_step = loop->state->global_step;
    loop->last_logged = loop->state->global_step;
    loop->tokens_at_start = (double)loop->state->n_tokens;
    return YOKE_OK;
}

static void close_run(struct loop *loop)
{
    batch_fini(&loop->batch);
    mem_free(loop->examples);
    sampler_fini(&loop->sampler);
    optimizer_fini(&loop->optimizer);
}

/* Round k of the epoch, this rank's part: its loss times `weight` is added to *loss, its tokens to
 * *n_tokens. The mean over the round's examples is the sum of the ranks' means, each weighed by its
 * share of the examples. */
static yoke_status add_batch(struct loop *loop, size_t k, double weight, double *loss,
                             double *n_tokens)
{
    const struct train_task *task = loop->run->task;
    const struct encoder_dropout dropout = {
        .seed = (uint64_t)loop->run->options->seed,
        .step = (uint32_t)loop->state->global_step,
    };
    const size_t n = sampler_batch(&loop->sampler, k, loop->examples);
    if (n == 0) {
        return YOKE_OK;
    }
    batch_clear(&loop->batch);
    for (size_t i = 0; i < n; i++) {
        task->add(task->context, loop->examples[i], &loop->batch);
    }
    const double scale = weight * (double)n / (double)sampler_round_size(&loop->sampler, k);
    double batch_loss;
    YOKE_TRY(task->step(task->context, loop->run->values, &loop->batch, &dropout, (float)scale,
                        &batch_loss, loop->optimizer.gradients));
    *loss += batch_loss * scale;
    *n_tokens += (double)loop->batch.n_tokens;
    return YOKE_OK;
}

static yoke_status check_finite(const struct loop *loop, double loss, double norm)
{
    if (isfinite(loss) && isfinite(norm)) {
        return YOKE_OK;
    }
    char loss_text[32], norm_text[32];
    return yoke_fail(
        YOKE_ERR_NUMERIC,
        "training step %lld of %lld: the loss is %s and the gradient's norm %s; nothing was saved "
        "over. "
        "Try a lower --learning_rate (now %g), more --warmup_steps, or --max_grad_norm 1.0",
        (long long)loop->state->global_step + 1, (long long)loop->plan.n_steps,
        json_format_double(loss, loss_text), json_format_double(norm, norm_text),
        loop->run->options->learning_rate);
}

static yoke_status make_step(struct loop *loop)
{
    struct trainer_state *state = loop->state;
    int64_t epoch;
    size_t begin, end;
    step_plan_locate(&loop->plan, state->global_step, &epoch, &begin, &end);
    if (epoch != loop->epoch) {
        sampler_set_epoch(&loop->sampler, (uint64_t)epoch);
        loop->epoch = epoch;
    }
    double totals[2] = {0.0, 0.0}; /* loss, tokens */
    optimizer_clear(&loop->optimizer);
    for (size_t k = begin; k < end; k++) {
        YOKE_TRY(add_batch(loop, k, 1.0 / (double)(end - begin), &totals[0], &totals[1]));
    }
    double norm;
    YOKE_TRY(optimizer_reduce(&loop->optimizer, totals, 2, &norm));
    YOKE_TRY(check_finite(loop, totals[0], norm));
    const double factor = schedule_factor(&loop->schedule, state->global_step);
    loop->learning_rate = loop->run->options->learning_rate * factor;
    loop->norm = norm;
    YOKE_TRY(optimizer_update(&loop->optimizer, loop->learning_rate, norm, state->global_step + 1));
    const int64_t n_computing =
        (int64_t)loop->run->params->n_trainable - loop->run->n_embedding_elements;
    state->global_step++;
    state->epoch = step_plan_epoch(&loop->plan, state->global_step);
    state->n_tokens += (int64_t)totals[1];
    state->total_flos += 6.0 * totals[1] * (double)n_computing;
    loop->logged_loss += totals[0];
    loop->total_loss += totals[0];
    return YOKE_OK;
}

static void show_progress(struct loop *loop, double loss)
{
    const double tokens = (double)loop->state->n_tokens - loop->tokens_at_start;
    char number[32];
    char note[96];
    snprintf(note, sizeof note, "loss %.4f, %s tokens/s", loss,
             str_thousands((int64_t)(loop->busy > 0 ? tokens / loop->busy : 0), number));
    progress_show(&loop->progress, loop->state->global_step - loop->first_step, note);
}

/* Puts the epoch into the metrics, keeps them in the history, and prints them: with a short epoch
 * and without the number of operations, as the reference does. */
static yoke_status log_metrics(struct loop *loop, json_t *metrics)
{
    if (!loop->is_first_rank) {
        return YOKE_OK;
    }
    YOKE_TRY(report_set_real(metrics, "epoch", loop->state->epoch));
    YOKE_TRY(trainer_state_log(loop->state, metrics));
    json_t *shown = json_copy(metrics);
    yoke_status status = report_set_real(shown, "epoch", report_round(loop->state->epoch, 2));
    if (status == YOKE_OK) {
        json_object_del(shown, "total_flos");
        status = report_print_dict(shown);
    }
    json_decref(shown);
    return status;
}

static yoke_status log_progress(struct loop *loop)
{
    const int64_t n = loop->state->global_step - loop->last_logged;
    if (n == 0) {
        return YOKE_OK;
    }
    json_t *metrics = json_object();
    yoke_status status;
    YOKE_TRY_GOTO(report_set_real(metrics, "loss", report_round(loop->logged_loss / (double)n, 4)));
    YOKE_TRY_GOTO(report_set_real(metrics, "grad_norm", loop->norm));
    YOKE_TRY_GOTO(report_set_real(metrics, "learning_rate", loop->learning_rate));
    status = log_metrics(loop, metrics);
    loop->logged_loss = 0.0;
    loop->last_logged = loop->state->global_step;
done:
    json_decref(metrics);
    return status;
}

static yoke_status evaluate(struct loop *loop)
{
    const struct train_task *task = loop->run->task;
    json_t *metrics = json_object();
    yoke_status status = task->evaluate(task->context, metrics);
    if (status == YOKE_OK) {
        status = log_metrics(loop, metrics);
    }
    json_decref(metrics);
    return status;
}

static bool is_due(int strategy, int64_t interval, int64_t step, bool ends_epoch)
{
    return (strategy == TRAIN_STEPS && step % interval == 0) ||
           (strategy == TRAIN_EPOCH && ends_epoch);
}

/* What stands between two training steps: log, evaluation, checkpoint, in this order. */
static yoke_status follow_step(struct loop *loop)
{
    const struct train_options *o = loop->run->options;
    const struct trainer_state *state = loop->state;
    const int64_t step = state->global_step;
    const bool ends_run = step == loop->plan.n_steps;
    const bool ends_epoch = ends_run || step % loop->plan.steps_per_epoch == 0;
    if (is_due(o->logging_strategy, state->logging_steps, step, ends_epoch) ||
        (o->logging_first_step && step == 1)) {
        YOKE_TRY(log_progress(loop));
    }
    const double delayed = o->eval_strategy == TRAIN_EPOCH ? state->epoch : (double)step;
    if (is_due(o->eval_strategy, state->eval_steps, step, ends_epoch) && delayed >= o->eval_delay) {
        YOKE_TRY(evaluate(loop));
    }
    /* The end of the run is a checkpoint too, so that training can go on from it. */
    if (is_due(o->save_strategy, state->save_steps, step, ends_epoch) ||
        (o->save_strategy == TRAIN_STEPS && ends_run)) {
        YOKE_TRY(checkpoint_save(loop->run, &loop->optimizer, state));
    }
    return YOKE_OK;
}

static yoke_status run_steps(struct loop *loop)
{
    const int64_t n_steps = loop->plan.n_steps;
    while (loop->state->global_step < n_steps) {
        const double before = loop->total_loss;
        const double started = clock_now();
        YOKE_TRY(make_step(loop));
        loop->busy += clock_now() - started;
        show_progress(loop, loop->total_loss - before);
        YOKE_TRY(follow_step(loop));
    }
    return YOKE_OK;
}

static yoke_status report_run(struct loop *loop, double seconds, json_t *metrics)
{
    const struct train_options *o = loop->run->options;
    const double n_samples = o->max_steps > 0
                                 ? (double)loop->plan.n_steps * (double)total_batch_size(loop)
                                 : (double)loop->run->task->n_examples * o->num_train_epochs;
    const int64_t n_steps = loop->state->global_step - loop->first_step;
    YOKE_TRY(report_set_speed(metrics, "train", seconds, n_samples, (double)loop->plan.n_steps));
    if (o->include_num_input_tokens_seen) {
        const double n_tokens = (double)loop->state->n_tokens - loop->tokens_at_start;
        YOKE_TRY(report_set_real(metrics, "train_tokens_per_second",
                                 report_round(n_tokens / seconds, 3)));
    }
    YOKE_TRY(report_set_real(metrics, "total_flos", loop->state->total_flos));
    YOKE_TRY(report_set_real(metrics, "train_loss",
                             n_steps > 0 ? loop->total_loss / (double)n_steps : 0.0));
    return log_metrics(loop, metrics);
}

yoke_status train_loop(const struct train_run *run, struct trainer_state *state, json_t *metrics)
{
    struct loop loop = {
        .run = run, .state = state, .is_first_rank = yoke_comm_rank(run->comm) == 0};
    yoke_status status;
    YOKE_TRY_GOTO(open_run(&loop));
    const bool shows = loop.is_first_rank && !run->options->disable_tqdm;
    const double started = clock_now();
    progress_start(&loop.progress, "Training", "step", loop.plan.n_steps - loop.first_step, shows);
    status = run_steps(&loop);
    progress_finish(&loop.progress, state->global_step - loop.first_step, NULL);
    YOKE_TRY_GOTO(status);
    if (loop.is_first_rank) {
        log_info(
            "Training completed. Do not forget to share your model on huggingface.co/models =)");
    }
    status = report_run(&loop, clock_now() - started, metrics);
done:
    close_run(&loop);
    return status;
}
