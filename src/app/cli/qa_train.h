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

/* Collective, before the files are read. Prepares the output folder (output_folder.h has the rules)
 * and finds the checkpoint to continue from: *folder_out is its path (mem_free), NULL for none. */
yoke_status qa_train_find_checkpoint(const struct qa_session *session,
                                     char **folder_out) YOKE_MUST_USE;

/* Collective. Loads the weights (of `checkpoint` unless it is NULL), trains, writes the model and
 * its results into the output folder. *epoch_out is how many epochs the model has seen. */
yoke_status qa_train(struct qa_session *session, const struct qa_inputs *inputs,
                     const char *checkpoint, double *epoch_out) YOKE_MUST_USE;

#endif
