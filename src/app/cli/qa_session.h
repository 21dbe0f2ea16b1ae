/* What every form of `yoke qa` opens first: ranks, kernels, tokenizer, model. */
#ifndef APP_CLI_QA_SESSION_H
#define APP_CLI_QA_SESSION_H

#include "app/cli/qa_options.h"
#include "compute/ops/compute.h"
#include "learn/model/model_config.h"
#include "learn/model/params.h"
#include "learn/task/qa_data.h"
#include "learn/task/qa_features.h"
#include "learn/text/tokenizer.h"
#include "learn/train/qa_logits.h"
#include "yoke/comm.h"

struct qa_session {
    const struct qa_command *command;
    yoke_comm *comm;
    bool is_first_rank;
    bool shows_progress;
    struct compute compute;
    struct tokenizer *tokenizer;
    struct model_config config;
    struct params params;
    float *values;         /* [optimizer_n_padded] of yoke_comm_alloc */
    size_t max_seq_length; /* clipped to the tokenizer and the model */
};

/* Ranks, log level, kernels, tokenizer and configuration; no weights yet. Close it after an error
 * too. */
yoke_status qa_session_open(struct qa_session *session,
                            const struct qa_command *command) YOKE_MUST_USE;
void qa_session_close(struct qa_session *session);

/* The weights of `folder`, or fresh ones when it is NULL. */
yoke_status qa_session_load(struct qa_session *session, const char *folder) YOKE_MUST_USE;

/* Reads a file and cuts it into windows. With `labels` also their targets. Close both after an
 * error too. */
yoke_status qa_session_read(const struct qa_session *session, const char *path, int64_t limit,
                            bool labels, struct qa_data *data,
                            struct qa_features *features) YOKE_MUST_USE;

/* Features of given data. */
yoke_status qa_session_features(const struct qa_session *session, const struct qa_data *data,
                                bool labels, struct qa_features *features) YOKE_MUST_USE;

/* Collective. The logits of all features with the weights that are loaded; qa_logits_fini. */
yoke_status qa_session_logits(const struct qa_session *session, const struct qa_features *features,
                              struct qa_logits *logits) YOKE_MUST_USE;

/* Writes configuration, weights, tokenizer and training_args.json into an existing folder; log
 * lines call it `shown_as`. */
yoke_status qa_session_save(const struct qa_session *session, const char *folder,
                            const char *shown_as) YOKE_MUST_USE;

#endif
