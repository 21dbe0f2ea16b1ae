/* How far a run is: the contents of trainer_state.json. */
#ifndef LEARN_TRAIN_TRAINER_STATE_H
#define LEARN_TRAIN_TRAINER_STATE_H

#include "learn/format/json.h"

struct trainer_state {
    int64_t global_step; /* training steps made */
    double epoch;        /* epochs made, as a fraction */
    int64_t n_tokens;    /* tokens trained on, all ranks */
    double total_flos;
    json_t *log_history; /* array, owned */
    /* Of the run, for the file: */
    int64_t max_steps, n_epochs, train_batch_size;
    int64_t logging_steps, eval_steps, save_steps;
    bool shows_tokens; /* num_input_tokens_seen is filled */
};

yoke_status trainer_state_init(struct trainer_state *state) YOKE_MUST_USE;
void trainer_state_fini(struct trainer_state *state);

/* Adds a copy of `metrics` with the step to log_history. */
yoke_status trainer_state_log(struct trainer_state *state, const json_t *metrics) YOKE_MUST_USE;

/* FOLDER/trainer_state.json, keys as the reference's. */
yoke_status trainer_state_write(const struct trainer_state *state,
                                const char *folder) YOKE_MUST_USE;

/* Reads progress (step, epoch, tokens, flos, history) of a checkpoint and leaves the run's own
 * fields; a difference in batch size, steps or intervals is a warning if `warns`. YOKE_ERR_FORMAT
 * names the file and the key. */
yoke_status trainer_state_read(struct trainer_state *state, const char *folder,
                               bool warns) YOKE_MUST_USE;

#endif
