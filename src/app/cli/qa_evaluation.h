/* Evaluation of `yoke qa`: logits, answers, scores, files. */
#ifndef APP_CLI_QA_EVALUATION_H
#define APP_CLI_QA_EVALUATION_H

#include "app/cli/qa_session.h"

/* Collective. On the first rank: eval_predictions.json and eval_nbest_predictions.json in the
 * output folder, the file of --save_logits, and eval_exact_match, eval_f1, eval_runtime and rates
 * in `metrics`. */
yoke_status qa_evaluate(const struct qa_session *session, const struct qa_data *data,
                        const struct qa_features *features, json_t *metrics) YOKE_MUST_USE;

#endif
