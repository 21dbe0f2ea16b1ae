/* The command line of run_qa.py: its table, its checks, its JSON form. */
#include "app/cli/qa_options.h"

#include <string.h>

#include "base/core/file.h"
#include "base/core/log.h"
#include "base/core/str.h"
#include "base/term/terminal.h"

#define AT(field) offsetof(struct qa_options, field)
#define ASK "Ask a trained model"
#define MODEL "Model"
#define DATA "Data"
#define DEBUG "Debugging"

static const struct option_def qa_option_defs[] = {
    {"model_name_or_path", NULL, OPTION_STRING, NULL, NULL, NULL, MODEL,
     "Folder with config.json, weights and tokenizer files.", AT(model_name_or_path)},
    {"config_name", NULL, OPTION_STRING, NULL, NULL, NULL, MODEL,
     "Folder or config.json of the model; without model_name_or_path training starts from fresh "
     "weights.",
     AT(config_name)},
    {"tokenizer_name", NULL, OPTION_STRING, NULL, NULL, NULL, MODEL,
     "Folder of the tokenizer, when it is not the model's.", AT(tokenizer_name)},
    {"cache_dir", NULL, OPTION_STRING, NULL, NULL, NULL, MODEL,
     "Folder for downloads (downloads come with a later version).", AT(cache_dir)},
    {"model_revision", NULL, OPTION_STRING, "main", NULL, NULL, MODEL,
     "Version to download (downloads come with a later version).", AT(model_revision)},
    {"token", "use_auth_token", OPTION_STRING, NULL, NULL, NULL, MODEL,
     "Key for downloads (downloads come with a later version).", AT(token)},
    {"trust_remote_code", NULL, OPTION_BOOL, "false", NULL, NULL, MODEL,
     "Run a model's own code; it is never run here.", AT(trust_remote_code)},

    {"train_file", NULL, OPTION_STRING, NULL, NULL, NULL, DATA,
     "Training questions: SQuAD nested or flat, or JSON lines.", AT(train_file)},
    {"validation_file", NULL, OPTION_STRING, NULL, NULL, NULL, DATA,
     "Questions of the evaluation, in the same forms; without it the training file is evaluated.",
     AT(validation_file)},
    {"test_file", NULL, OPTION_STRING, NULL, NULL, NULL, DATA,
     "Questions of do_predict (comes with a later version).", AT(test_file)},
    {"dataset_name", NULL, OPTION_STRING, NULL, NULL, NULL, DATA,
     "Data set to download (comes with a later version; use train_file).", AT(dataset_name)},
    {"dataset_config_name", NULL, OPTION_STRING, NULL, NULL, NULL, DATA,
     "Part of that data set (comes with a later version).", AT(dataset_config_name)},
    {"max_seq_length", NULL, OPTION_INT, "384", "4..1000000", NULL, DATA,
     "Tokens of a window, question and special tokens included.", AT(max_seq_length)},
    {"doc_stride", NULL, OPTION_INT, "128", "0..1000000", NULL, DATA,
     "Tokens that neighbouring windows of a long context share.", AT(doc_stride)},
    {"pad_to_max_length", NULL, OPTION_BOOL, "true", NULL, NULL, DATA,
     "Pad windows to max_seq_length; batches are packed and never padded.", AT(pad_to_max_length)},
    {"max_train_samples", NULL, OPTION_INT, "-1", "-1..", NULL, DATA,
     "Use only the first training questions; -1 for all.", AT(max_train_samples)},
    {"max_eval_samples", NULL, OPTION_INT, "-1", "-1..", NULL, DATA,
     "Use only the first questions of the evaluation; -1 for all.", AT(max_eval_samples)},
    {"max_predict_samples", NULL, OPTION_INT, "-1", "-1..", NULL, DATA,
     "Use only the first questions of do_predict (comes with a later version).",
     AT(max_predict_samples)},
    {"n_best_size", NULL, OPTION_INT, "20", "1..10000", NULL, DATA,
     "Candidate answers to keep for each question.", AT(n_best_size)},
    {"max_answer_length", NULL, OPTION_INT, "30", "1..1000000", NULL, DATA,
     "Tokens of the longest answer.", AT(max_answer_length)},
    {"version_2_with_negative", NULL, OPTION_BOOL, "false", NULL, NULL, DATA,
     "Questions may have no answer (comes with a later version).", AT(version_2_with_negative)},
    {"null_score_diff_threshold", NULL, OPTION_FLOAT, "0.0", NULL, NULL, DATA,
     "Threshold of no answer (comes with version_2_with_negative).", AT(null_score_diff_threshold)},
    {"overwrite_cache", NULL, OPTION_BOOL, "false", NULL, NULL, DATA,
     "Tokenize anew; there is no cache.", AT(overwrite_cache)},
    {"preprocessing_num_workers", NULL, OPTION_INT, "0", "0..4096", NULL, DATA,
     "Processes that tokenize; all cores of the rank do.", AT(preprocessing_num_workers)},

    {"answer", NULL, OPTION_STRING, NULL, NULL, NULL, ASK,
     "A question: the model answers it from the context and nothing else is done.", AT(answer)},
    {"context", NULL, OPTION_STRING, NULL, NULL, NULL, ASK, "The text to answer from.",
     AT(context)},
    {"context_file", NULL, OPTION_STRING, NULL, NULL, NULL, ASK,
     "File with the text to answer from; - reads standard input.", AT(context_file)},

    {"save_features", NULL, OPTION_STRING, NULL, NULL, NULL, DEBUG,
     "Write the windows (of training, else of the evaluation) to this file as JSON lines.",
     AT(save_features)},
    {"save_logits", NULL, OPTION_STRING, NULL, NULL, NULL, DEBUG,
     "Write the logits of the evaluation to this file as safetensors.", AT(save_logits)},
};

static yoke_status open_set(struct qa_command *command)
{
    const struct option_table tables[] = {
        {qa_option_defs, sizeof qa_option_defs / sizeof qa_option_defs[0], &command->qa},
        {train_option_defs, train_n_option_defs, &command->train},
    };
    return option_set_init(&command->set, tables, sizeof tables / sizeof tables[0]);
}

/* One key of the arguments' file; null leaves the default. */
static yoke_status set_from_json(struct option_set *set, const char *key, const json_t *value)
{
    char number[32];
    const char *text;
    struct str integer = {0};
    switch (json_typeof(value)) {
    case JSON_NULL:
        return YOKE_OK;
    case JSON_TRUE:
        text = "true";
        break;
    case JSON_FALSE:
        text = "false";
        break;
    case JSON_STRING:
        text = json_string_value(value);
        break;
    case JSON_REAL:
        text = json_format_double(json_real_value(value), number);
        break;
    case JSON_INTEGER:
        YOKE_TRY(str_printf(&integer, "%lld", (long long)json_integer_value(value)));
        text = str_text(&integer);
        break;
    default:
        return yoke_fail(YOKE_ERR_INVALID, "%s must be a text, a number, true or false", key);
    }
    const yoke_status status = option_set_value(set, key, text, OPTION_FROM_FILE);
    str_fini(&integer);
    return status;
}

static yoke_status parse_file(struct qa_command *command, const char *path)
{
    json_t *json;
    YOKE_TRY(json_read_file(path, &json));
    yoke_status status = YOKE_OK;
    const char *key;
    json_t *value;
    if (!json_is_object(json)) {
        status =
            yoke_fail(YOKE_ERR_FORMAT, "%s is not a JSON object of option names and values", path);
    }
    json_object_foreach(json, key, value)
    {
        status = set_from_json(&command->set, key, value);
        if (status < 0) {
            yoke_fail_prefix(status, "%s", path);
            break;
        }
    }
    json_decref(json);
    return status;
}

yoke_status qa_command_parse(struct qa_command *command, int argc, char **argv)
{
    memset(command, 0, sizeof *command);
    YOKE_TRY(open_set(command));
    if (argc == 1 && str_ends_with(argv[0], ".json")) {
        return parse_file(command, argv[0]);
    }
    return option_set_parse(&command->set, argc, argv, NULL);
}

void qa_command_fini(struct qa_command *command)
{
    option_set_fini(&command->set);
}

static yoke_status check_asking(const struct qa_command *command)
{
    const struct qa_options *o = &command->qa;
    if (command->train.do_train || command->train.do_eval || o->save_features || o->save_logits) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--answer asks one question; run --do_train, --do_eval, --save_features "
                         "and --save_logits without it");
    }
    if (!o->model_name_or_path) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--answer needs --model_name_or_path, the folder of a trained model");
    }
    if (!o->context == !o->context_file) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--answer needs --context TEXT or --context_file FILE, one of them");
    }
    return YOKE_OK;
}

static yoke_status check_model(const struct qa_options *o)
{
    if (!o->model_name_or_path && !o->config_name) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "name a model folder with --model_name_or_path, or --config_name to "
                         "start from fresh weights");
    }
    if (!o->model_name_or_path && !o->tokenizer_name) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--config_name alone has no vocabulary; name its folder with "
                         "--tokenizer_name");
    }
    if (o->model_name_or_path && !file_is_directory(o->model_name_or_path)) {
        return yoke_fail(
            YOKE_ERR_NOT_FOUND,
            "--model_name_or_path %s is not a folder on this machine; download the model first "
            "(its "
            "config.json, model.safetensors and tokenizer files): downloads by name come with a "
            "later version",
            o->model_name_or_path);
    }
    return YOKE_OK;
}

/* A file that the job needs: named and there. */
static yoke_status check_file(const char *job, const char *option, const char *path)
{
    if (!path) {
        return yoke_fail(YOKE_ERR_INVALID, "%s needs %s, a SQuAD file", job, option);
    }
    if (!file_exists(path)) {
        return yoke_fail(YOKE_ERR_NOT_FOUND, "%s %s: there is no such file", option, path);
    }
    return YOKE_OK;
}

bool qa_command_evaluates(const struct qa_command *command)
{
    return command->train.do_eval ||
           (command->train.do_train && command->train.eval_strategy != TRAIN_NEVER);
}

const char *qa_command_evaluation_file(const struct qa_command *command)
{
    return command->qa.validation_file ? command->qa.validation_file : command->qa.train_file;
}

static yoke_status check_data(const struct qa_command *command)
{
    const struct qa_options *o = &command->qa;
    if (o->dataset_name) {
        return yoke_fail(
            YOKE_ERR_UNSUPPORTED,
            "--dataset_name %s: downloads by name come with a later version; pass the files of the "
            "data set with --train_file and --validation_file",
            o->dataset_name);
    }
    if (command->train.do_train) {
        YOKE_TRY(check_file("--do_train", "--train_file", o->train_file));
    }
    if (qa_command_evaluates(command)) {
        const char *option = o->validation_file ? "--validation_file" : "--train_file";
        YOKE_TRY(check_file("--do_eval", option, qa_command_evaluation_file(command)));
    }
    const bool nothing_to_train = command->train.do_train && o->max_train_samples == 0;
    if (nothing_to_train || (qa_command_evaluates(command) && o->max_eval_samples == 0)) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--%s 0 leaves not a single question; pass a larger number, or -1 for all",
                         nothing_to_train ? "max_train_samples" : "max_eval_samples");
    }
    if (o->save_logits && !qa_command_evaluates(command)) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--save_logits needs an evaluation: pass --do_eval or --eval_strategy");
    }
    if (o->doc_stride >= o->max_seq_length) {
        return yoke_fail(
            YOKE_ERR_INVALID,
            "--doc_stride %lld must be smaller than --max_seq_length %lld: it is how many tokens "
            "windows share",
            (long long)o->doc_stride, (long long)o->max_seq_length);
    }
    return YOKE_OK;
}

yoke_status qa_command_check(const struct qa_command *command)
{
    const struct qa_options *o = &command->qa;
    if (o->version_2_with_negative) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "--version_2_with_negative comes with a later version; SQuAD v1 files "
                         "work now");
    }
    if (o->answer) {
        YOKE_TRY(check_asking(command));
        return check_model(o);
    }
    if (o->context || o->context_file) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--context and --context_file belong to --answer QUESTION");
    }
    YOKE_TRY(train_options_check(&command->train));
    if (!command->train.do_train && !command->train.do_eval) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "there is nothing to do; pass --do_train, --do_eval or --answer");
    }
    YOKE_TRY(check_data(command));
    return check_model(o);
}

void qa_command_explain(const struct qa_command *command)
{
    static const struct {
        const char *name;
        const char *text;
    } lines[] = {
        {"pad_to_max_length",
         "batches are packed; no padding is ever computed, results do not depend on it."},
        {"overwrite_cache", "there is no cache; files are tokenized in each run."},
        {"preprocessing_num_workers", "tokenization uses all cores of the rank."},
        {"cache_dir", "nothing is downloaded; the folder is not used."},
        {"model_revision", "nothing is downloaded; the model folder is used as it is."},
        {"token", "nothing is downloaded; no key is needed."},
        {"trust_remote_code", "a model folder's code is never run."},
        {"test_file", "the test file is for --do_predict, which comes with a later version."},
        {"max_predict_samples", "it is for --do_predict, which comes with a later version."},
        {"dataset_config_name", "nothing is downloaded; the named files are used."},
        {"null_score_diff_threshold",
         "it is for --version_2_with_negative, which comes with a later version."},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (option_set_source(&command->set, lines[i].name) != OPTION_FROM_DEFAULT) {
            log_info("--%s: %s", lines[i].name, lines[i].text);
        }
    }
    if (qa_command_evaluates(command) && !command->qa.validation_file) {
        log_warning("There is no --validation_file: the evaluation uses the training questions, so "
                    "its scores say "
                    "nothing about other texts.");
    }
    train_options_explain(&command->set, &command->train);
}

yoke_status qa_command_help(void)
{
    struct qa_command command;
    memset(&command, 0, sizeof command);
    YOKE_TRY(open_set(&command));
    term_print(
        "yoke qa: fine-tune and evaluate a model that answers questions from a text.\n\n"
        "  yoke qa --model_name_or_path DIR --train_file F --do_train --output_dir OUT [options]\n"
        "  yoke qa --model_name_or_path OUT --validation_file F --do_eval --output_dir OUT\n"
        "  yoke qa --model_name_or_path OUT --context TEXT --answer QUESTION\n"
        "  yoke qa ARGUMENTS.json\n"
        "  yoke launch -n N qa ...            the same on N ranks of this host\n\n");
    option_set_help(&command.set);
    qa_command_fini(&command);
    return YOKE_OK;
}
