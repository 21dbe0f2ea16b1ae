/* Training of `yoke qa`. */
#ifndef APP_CLI_QA_TRAIN_H
#define APP_CLI_QA_TRAIN_H

#include "app/cli/qa_session.h"

/* Files of a run, read before anything is computed. `evaluation` parts are empty when nothing is
 * evaluated. */
struct qa_inputs {
    struct qa_data train_data, evaluation_data;
    struct qa_features train_features, evaluation_features;
};

/* Collective. Loads the weights (of a checkpoint when the run continues from one), trains, writes
 * the model and its results into the output folder. *epoch_out is how many epochs the model has
 * seen. */
yoke_status qa_train(struct qa_session *session, const struct qa_inputs *inputs,
                     double *epoch_out) YOKE_MUST_USE;

#endif
