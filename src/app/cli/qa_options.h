/* The options of `yoke qa` that the training arguments do not have: model, data, asking, debugging.
 */
#ifndef APP_CLI_QA_OPTIONS_H
#define APP_CLI_QA_OPTIONS_H

#include "learn/train/train_options.h"

struct qa_options {
    /* Model. */
    const char *model_name_or_path, *config_name, *tokenizer_name;
    const char *cache_dir, *model_revision, *token;
    bool trust_remote_code;
    /* Data. */
    const char *dataset_name, *dataset_config_name, *train_file, *validation_file, *test_file;
    bool overwrite_cache, pad_to_max_length, version_2_with_negative;
    int64_t preprocessing_num_workers, max_seq_length, doc_stride, n_best_size, max_answer_length;
    int64_t max_train_samples, max_eval_samples, max_predict_samples; /* -1: all */
    double null_score_diff_threshold;
    /* Asking one question. */
    const char *answer, *context, *context_file;
    /* Debugging. */
    const char *save_logits, *save_features;
};

/* One command line: both tables and where their values came from. */
struct qa_command {
    struct qa_options qa;
    struct train_options train;
    struct option_set set;
};

/* Reads the words behind `yoke qa`; a single word that ends in .json is a file that holds all of
 * them. The command's strings live until qa_command_fini, which accepts a zeroed command. The
 * command must not move. */
yoke_status qa_command_parse(struct qa_command *command, int argc, char **argv) YOKE_MUST_USE;
void qa_command_fini(struct qa_command *command);

/* Contradictions, missing options, and what this version does not do. */
yoke_status qa_command_check(const struct qa_command *command) YOKE_MUST_USE;

/* Whether the run evaluates, at its end or on the way, and on which file: the validation file, else
 * the training file (the reference's commands name both or a data set that has both). */
bool qa_command_evaluates(const struct qa_command *command);
const char *qa_command_evaluation_file(const struct qa_command *command);

/* Logs what accepted options mean here. */
void qa_command_explain(const struct qa_command *command);

/* The help page on standard output. */
yoke_status qa_command_help(void) YOKE_MUST_USE;

#endif
