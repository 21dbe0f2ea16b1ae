/* From features to scores, in the reference's words. */
#include "app/cli/qa_evaluation.h"

#include "app/cli/qa_debug.h"
#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/str.h"
#include "learn/task/qa_answer.h"
#include "learn/train/reports.h"

static void log_start(const struct qa_session *session, const struct qa_features *features)
{
    char number[32];
    log_info("***** Running Evaluation *****");
    log_info("  Num examples = %s", str_thousands((int64_t)features->n_features, number));
    log_info("  Batch size = %s",
             str_thousands(session->command->train.per_device_eval_batch_size, number));
}

static yoke_status set_scores(const struct qa_data *data, const struct qa_predictions *predictions,
                              json_t *metrics)
{
    struct qa_scores scores;
    YOKE_TRY(qa_score(data, predictions, &scores));
    if (scores.n_scored < data->n_examples) {
        log_warning(
            "%zu of %zu questions have no answer in the file; they are answered but not scored.",
            data->n_examples - scores.n_scored, data->n_examples);
    }
    if (scores.n_scored == 0) {
        return YOKE_OK;
    }
    YOKE_TRY(report_set_real(metrics, "eval_exact_match", scores.exact_match));
    return report_set_real(metrics, "eval_f1", scores.f1);
}

static yoke_status answer_and_score(const struct qa_session *session, const struct qa_data *data,
                                    const struct qa_features *features,
                                    const struct qa_logits *logits, json_t *metrics)
{
    const struct qa_options *qa = &session->command->qa;
    const struct qa_answer_options options = {
        .n_best_size = (size_t)qa->n_best_size,
        .max_answer_length = (size_t)qa->max_answer_length,
    };
    log_info("Post-processing %zu example predictions split into %zu features.", data->n_examples,
             features->n_features);
    struct qa_predictions predictions;
    YOKE_TRY(qa_answer(data, features, logits->features, &options, &predictions));
    yoke_status status =
        qa_predictions_write(data, &predictions, session->command->train.output_dir, "eval_");
    if (status == YOKE_OK) {
        status = set_scores(data, &predictions, metrics);
    }
    qa_predictions_fini(&predictions);
    return status;
}

static yoke_status set_speed(const struct qa_session *session, const struct qa_features *features,
                             double seconds, json_t *metrics)
{
    const size_t round = (size_t)session->command->train.per_device_eval_batch_size *
                         (size_t)yoke_comm_size(session->comm);
    const size_t n_steps = (features->n_features + round - 1) / round;
    return report_set_speed(metrics, "eval", seconds, (double)features->n_features,
                            (double)n_steps);
}

yoke_status qa_evaluate(const struct qa_session *session, const struct qa_data *data,
                        const struct qa_features *features, json_t *metrics)
{
    if (session->is_first_rank) {
        log_start(session, features);
    }
    const double started = clock_now();
    struct qa_logits logits;
    YOKE_TRY(qa_session_logits(session, features, &logits));
    yoke_status status = YOKE_OK;
    if (session->is_first_rank) {
        YOKE_TRY_GOTO(answer_and_score(session, data, features, &logits, metrics));
        YOKE_TRY_GOTO(set_speed(session, features, clock_now() - started, metrics));
        if (session->command->qa.save_logits) {
            status = qa_debug_save_logits(session->command->qa.save_logits, features, &logits);
        }
    }
done:
    qa_logits_fini(&logits);
    return status;
}
