/* `yoke qa`: the job of run_qa.py. */
#include "app/cli/commands.h"
#include "app/cli/qa_ask.h"
#include "app/cli/qa_debug.h"
#include "app/cli/qa_evaluation.h"
#include "app/cli/qa_train.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/train/model_card.h"
#include "learn/train/output_folder.h"
#include "learn/train/reports.h"

static void close_inputs(struct qa_inputs *inputs)
{
    qa_features_fini(&inputs->train_features);
    qa_features_fini(&inputs->evaluation_features);
    qa_data_fini(&inputs->train_data);
    qa_data_fini(&inputs->evaluation_data);
}

/* All files are read before the first training step: a mistake in the last one must not cost a
 * training. */
static yoke_status read_inputs(const struct qa_session *session, struct qa_inputs *inputs)
{
    const struct qa_command *command = session->command;
    const struct qa_options *o = &command->qa;
    const bool trains = command->train.do_train;
    if (trains) {
        YOKE_TRY(qa_session_read(session, o->train_file, o->max_train_samples, true,
                                 &inputs->train_data, &inputs->train_features));
    }
    if (qa_command_evaluates(command)) {
        YOKE_TRY(qa_session_read(session, qa_command_evaluation_file(command), o->max_eval_samples,
                                 false, &inputs->evaluation_data, &inputs->evaluation_features));
    }
    if (o->save_features && session->is_first_rank) {
        return trains ? qa_debug_save_features(o->save_features, &inputs->train_data,
                                               &inputs->train_features)
                      : qa_debug_save_features(o->save_features, &inputs->evaluation_data,
                                               &inputs->evaluation_features);
    }
    return YOKE_OK;
}

static yoke_status evaluate_at_end(const struct qa_session *session, const struct qa_inputs *inputs,
                                   double epoch)
{
    json_t *metrics = json_object();
    yoke_status status;
    YOKE_TRY_GOTO(
        qa_evaluate(session, &inputs->evaluation_data, &inputs->evaluation_features, metrics));
    if (!session->is_first_rank) {
        goto done;
    }
    if (session->command->train.do_train) {
        YOKE_TRY_GOTO(report_set_real(metrics, "epoch", epoch));
    }
    YOKE_TRY_GOTO(report_print_dict(metrics));
    YOKE_TRY_GOTO(report_set_integer(metrics, "eval_samples",
                                     (int64_t)inputs->evaluation_features.n_features));
    status = report_results(session->command->train.output_dir, "eval", metrics);
done:
    json_decref(metrics);
    return status;
}

/* The card lists what all_results.json has collected. */
static yoke_status write_card(const struct qa_session *session)
{
    const struct qa_options *o = &session->command->qa;
    const char *folder = session->command->train.output_dir;
    char *path = str_path(folder, "all_results.json");
    json_t *results;
    yoke_status status = path ? json_read_file(path, &results) : YOKE_ERR_NO_MEMORY;
    mem_free(path);
    YOKE_TRY(status);
    const struct model_card card = {
        .base_model = o->model_name_or_path,
        .task = "question-answering",
        .n_ranks = yoke_comm_size(session->comm),
        .options = &session->command->train,
        .results = results,
    };
    status = model_card_write(&card, folder);
    json_decref(results);
    return status;
}

static yoke_status run_job(struct qa_session *session)
{
    const struct train_options *o = &session->command->train;
    struct qa_inputs inputs = {0};
    double epoch = 0.0;
    char *checkpoint = NULL;
    yoke_status status = YOKE_OK;
    if (o->do_train) {
        YOKE_TRY_GOTO(qa_train_find_checkpoint(session, &checkpoint));
    } else if (session->is_first_rank) {
        int64_t unused;
        YOKE_TRY_GOTO(output_folder_prepare(o->output_dir, false, false, &unused));
    }
    YOKE_TRY_GOTO(read_inputs(session, &inputs));
    if (o->do_train) {
        YOKE_TRY_GOTO(qa_train(session, &inputs, checkpoint, &epoch));
    } else {
        YOKE_TRY_GOTO(qa_session_load(session, session->command->qa.model_name_or_path));
    }
    if (o->do_eval) {
        YOKE_TRY_GOTO(evaluate_at_end(session, &inputs, epoch));
    }
    if (o->do_train && session->is_first_rank) {
        status = write_card(session);
    }
done:
    mem_free(checkpoint);
    close_inputs(&inputs);
    return status;
}

static yoke_status run(struct qa_command *command, int argc, char **argv)
{
    YOKE_TRY(qa_command_parse(command, argc, argv));
    YOKE_TRY(qa_command_check(command));
    struct qa_session session;
    yoke_status status = qa_session_open(&session, command);
    if (status == YOKE_OK) {
        status = command->qa.answer ? qa_ask(&session) : run_job(&session);
    }
    qa_session_close(&session);
    return status;
}

int cmd_qa(int argc, char **argv)
{
    if (command_asks_for_help(argc, argv)) {
        return yoke_status_exit_code(qa_command_help());
    }
    struct qa_command command;
    const yoke_status status = run(&command, argc, argv);
    qa_command_fini(&command);
    return yoke_status_exit_code(status);
}
