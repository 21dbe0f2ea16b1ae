/* trainer_state.json: written for users, their tools and our own resuming. */
#include "learn/train/trainer_state.h"

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"

static const char file_name[] = "trainer_state.json";

/* Above what any run reaches, and whole in a double. */
static const double MAX_COUNT = 1e15;

yoke_status trainer_state_init(struct trainer_state *state)
{
    *state = (struct trainer_state){.log_history = json_array()};
    if (!state->log_history) {
        return yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for the log history");
    }
    return YOKE_OK;
}

void trainer_state_fini(struct trainer_state *state)
{
    json_decref(state->log_history);
    *state = (struct trainer_state){0};
}

yoke_status trainer_state_log(struct trainer_state *state, const json_t *metrics)
{
    json_t *entry = json_copy((json_t *)metrics);
    if (json_object_set_new(entry, "step", json_integer(state->global_step)) != 0 ||
        json_array_append_new(state->log_history, entry) != 0) {
        return yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for the log history");
    }
    return YOKE_OK;
}

static json_t *state_to_json(const struct trainer_state *s)
{
    json_t *callbacks =
        json_pack("{s{s{sb sb sb sb sb} s{}}}", "TrainerControl", "args", "should_epoch_stop", 0,
                  "should_evaluate", 0, "should_log", 0, "should_save", 1, "should_training_stop",
                  (int)(s->global_step >= s->max_steps), "attributes");
    return json_pack(
        "{sn sn sn sf sI sI sb sb sb sO sI sI sI sI sI so sf sI sn sn}", "best_global_step",
        "best_metric", "best_model_checkpoint", "epoch", s->epoch, "eval_steps",
        (json_int_t)s->eval_steps, "global_step", (json_int_t)s->global_step,
        "is_hyper_param_search", 0, "is_local_process_zero", 1, "is_world_process_zero", 1,
        "log_history", s->log_history, "logging_steps", (json_int_t)s->logging_steps, "max_steps",
        (json_int_t)s->max_steps, "num_input_tokens_seen",
        (json_int_t)(s->shows_tokens ? s->n_tokens : 0), "num_train_epochs",
        (json_int_t)s->n_epochs, "save_steps", (json_int_t)s->save_steps, "stateful_callbacks",
        callbacks, "total_flos", s->total_flos, "train_batch_size", (json_int_t)s->train_batch_size,
        "trial_name", "trial_params");
}

yoke_status trainer_state_write(const struct trainer_state *state, const char *folder)
{
    char *path = str_path(folder, file_name);
    json_t *json = state_to_json(state);
    yoke_status status;
    if (!path || !json) {
        status = yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for %s", file_name);
    } else {
        status = json_write_file(path, json, 2, true);
    }
    json_decref(json);
    mem_free(path);
    return status;
}

static yoke_status get_number(const json_t *json, const char *path, const char *key,
                              double *value_out)
{
    const json_t *value = json_object_get(json, key);
    if (!json_is_number(value) || json_number_value(value) < 0) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: the key %s is missing or no number >= 0; resume from another "
                         "checkpoint",
                         path, key);
    }
    *value_out = json_number_value(value);
    return YOKE_OK;
}

/* A changed setting does not stop a resumed run, but its user should know that this run's value
 * counts. */
static void compare_setting(const json_t *json, bool warns, const char *key, int64_t value)
{
    const json_t *old = json_object_get(json, key);
    if (warns && json_is_number(old) && json_number_value(old) != (double)value) {
        log_warning("%s is %g in the checkpoint and %lld in this run; this run's value is used.",
                    key, json_number_value(old), (long long)value);
    }
}

static yoke_status read_progress(struct trainer_state *state, const json_t *json, const char *path,
                                 bool warns)
{
    double step = 0.0, epoch = 0.0, flos = 0.0, tokens = 0.0;
    json_t *history = json_object_get(json, "log_history");
    YOKE_TRY(get_number(json, path, "global_step", &step));
    YOKE_TRY(get_number(json, path, "epoch", &epoch));
    YOKE_TRY(get_number(json, path, "total_flos", &flos));
    YOKE_TRY(get_number(json, path, "num_input_tokens_seen", &tokens));
    if (!json_is_array(history) || step > MAX_COUNT || tokens > MAX_COUNT) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: log_history is no list, or global_step or num_input_tokens_seen is "
                         "out of range; resume from another checkpoint",
                         path);
    }
    compare_setting(json, warns, "max_steps", state->max_steps);
    compare_setting(json, warns, "train_batch_size", state->train_batch_size);
    compare_setting(json, warns, "logging_steps", state->logging_steps);
    compare_setting(json, warns, "save_steps", state->save_steps);
    state->global_step = (int64_t)step;
    state->epoch = epoch;
    state->total_flos = flos;
    state->n_tokens = (int64_t)tokens;
    json_decref(state->log_history);
    state->log_history = json_incref(history);
    return YOKE_OK;
}

yoke_status trainer_state_read(struct trainer_state *state, const char *folder, bool warns)
{
    char *path = str_path(folder, file_name);
    json_t *json = NULL;
    yoke_status status = path ? json_read_file(path, &json) : YOKE_ERR_NO_MEMORY;
    if (status == YOKE_OK) {
        status = read_progress(state, json, path, warns);
    }
    json_decref(json);
    mem_free(path);
    return status;
}
