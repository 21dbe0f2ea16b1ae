/* The task that the training loop calls back, and what surrounds the loop. */
#include "app/cli/qa_train.h"

#include <string.h>

#include "app/cli/qa_evaluation.h"
#include "base/core/file.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "learn/model/qa_model.h"
#include "learn/train/loop.h"
#include "learn/train/output_folder.h"
#include "learn/train/qa_logits.h"
#include "learn/train/reports.h"

struct qa_task {
    struct qa_session *session;
    const struct qa_inputs *inputs;
    struct qa_model *model;
};

static void add_example(void *context, size_t example, struct batch *batch)
{
    const struct qa_task *task = context;
    qa_logits_add_feature(&task->inputs->train_features, example, batch);
}

static yoke_status step(void *context, const float *values, const struct batch *batch,
                        const struct encoder_dropout *dropout, float gradient_scale,
                        double *loss_out, float *gradients)
{
    const struct qa_task *task = context;
    return qa_model_step(task->model, values, batch, dropout, gradient_scale, loss_out, gradients);
}

static yoke_status evaluate(void *context, json_t *metrics)
{
    const struct qa_task *task = context;
    return qa_evaluate(task->session, &task->inputs->evaluation_data,
                       &task->inputs->evaluation_features, metrics);
}

static yoke_status save(void *context, const char *folder, const char *shown_as)
{
    const struct qa_task *task = context;
    return qa_session_save(task->session, folder, shown_as);
}

/* "true" and "false" are what the reference's argument accepts beside a folder. */
static bool is_word(const char *text, const char *word)
{
    return text && strcasecmp(text, word) == 0;
}

/* First rank: may the folder be written, and from which of its checkpoints does the run continue
 * (-1: none)? */
static yoke_status choose_checkpoint(const struct train_options *o, int64_t *number_out)
{
    int64_t found;
    YOKE_TRY(output_folder_prepare(o->output_dir, true, o->overwrite_output_dir, &found));
    if (is_word(o->resume_from_checkpoint, "true")) {
        YOKE_TRY(output_folder_last_checkpoint(o->output_dir, &found));
        if (found < 0) {
            return yoke_fail(YOKE_ERR_NOT_FOUND,
                             "--resume_from_checkpoint: there is no checkpoint-N in %s",
                             o->output_dir);
        }
    } else if (!o->resume_from_checkpoint && found >= 0) {
        log_info("Checkpoint detected, resuming training at %s/checkpoint-%lld. To avoid this "
                 "behavior, change "
                 "the --output_dir or add --overwrite_output_dir to train from scratch.",
                 o->output_dir, (long long)found);
    } else if (is_word(o->resume_from_checkpoint, "false")) {
        found = -1;
    }
    *number_out = found;
    return YOKE_OK;
}

/* The first rank decides: it alone has looked at the folder before anything is written. */
yoke_status qa_train_find_checkpoint(const struct qa_session *session, char **folder_out)
{
    const struct train_options *o = &session->command->train;
    int64_t number = -1;
    if (session->is_first_rank) {
        YOKE_TRY(choose_checkpoint(o, &number));
    }
    YOKE_TRY(yoke_comm_broadcast(session->comm, &number, 1, YOKE_INT64, 0));
    const bool names_folder = o->resume_from_checkpoint &&
                              !is_word(o->resume_from_checkpoint, "true") &&
                              !is_word(o->resume_from_checkpoint, "false");
    if (names_folder && !file_is_directory(o->resume_from_checkpoint)) {
        return yoke_fail(YOKE_ERR_NOT_FOUND, "--resume_from_checkpoint %s: there is no such folder",
                         o->resume_from_checkpoint);
    }
    *folder_out = NULL;
    if (names_folder || number >= 0) {
        *folder_out = names_folder ? mem_strdup(o->resume_from_checkpoint)
                                   : output_folder_checkpoint_path(o->output_dir, number);
        return *folder_out ? YOKE_OK : YOKE_ERR_NO_MEMORY;
    }
    return YOKE_OK;
}

static yoke_status open_model(struct qa_task *task, size_t *max_tokens_out)
{
    struct qa_session *session = task->session;
    const size_t n_seqs = (size_t)session->command->train.per_device_train_batch_size;
    size_t max_len;
    YOKE_TRY(
        qa_logits_largest_batch(&task->inputs->train_features, n_seqs, max_tokens_out, &max_len));
    return qa_model_create(&session->config, &session->params, &session->compute, *max_tokens_out,
                           n_seqs, max_len, true, &task->model);
}

/* First rank: the final model, its results and the state. */
static yoke_status write_outputs(const struct qa_session *session, const struct qa_inputs *inputs,
                                 const struct trainer_state *state, json_t *metrics)
{
    const char *folder = session->command->train.output_dir;
    YOKE_TRY(qa_session_save(session, folder, folder));
    YOKE_TRY(
        report_set_integer(metrics, "train_samples", (int64_t)inputs->train_features.n_features));
    YOKE_TRY(report_results(folder, "train", metrics));
    return trainer_state_write(state, folder);
}

static yoke_status run_loop(struct qa_task *task, const char *checkpoint,
                            struct trainer_state *state, json_t *metrics)
{
    struct qa_session *session = task->session;
    const struct model_config *config = &session->config;
    const struct train_task callbacks = {
        .context = task,
        .n_examples = task->inputs->train_features.n_features,
        .add = add_example,
        .step = step,
        .evaluate = evaluate,
        .save = save,
    };
    size_t max_tokens;
    YOKE_TRY(open_model(task, &max_tokens));
    const struct train_run run = {
        .options = &session->command->train,
        .task = &callbacks,
        .comm = session->comm,
        .compute = &session->compute,
        .params = &session->params,
        .values = session->values,
        .max_tokens = max_tokens,
        .n_embedding_elements =
            (int64_t)((config->vocab_size + config->max_positions + config->n_types) *
                      config->hidden),
        .resume_folder = checkpoint,
    };
    return train_loop(&run, state, metrics);
}

yoke_status qa_train(struct qa_session *session, const struct qa_inputs *inputs,
                     const char *checkpoint, double *epoch_out)
{
    struct qa_task task = {.session = session, .inputs = inputs};
    struct trainer_state state = {0};
    json_t *metrics = json_object();
    yoke_status status;
    YOKE_TRY_GOTO(trainer_state_init(&state));
    YOKE_TRY_GOTO(qa_session_load(session, checkpoint ? checkpoint
                                                      : session->command->qa.model_name_or_path));
    YOKE_TRY_GOTO(run_loop(&task, checkpoint, &state, metrics));
    if (session->is_first_rank) {
        YOKE_TRY_GOTO(write_outputs(session, inputs, &state, metrics));
    }
    *epoch_out = state.epoch;
done:
    qa_model_destroy(task.model);
    trainer_state_fini(&state);
    json_decref(metrics);
    return status;
}
