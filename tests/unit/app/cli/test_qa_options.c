/* Command lines as users type them. */
#include "support.h"

#include "app/cli/qa_ask.h"
#include "app/cli/qa_options.h"

/* A folder with an empty model and a data file, where the commands below find them. */
static char folder[64];

static int open_folder(void **state)
{
    (void)state;
    char path[128];
    test_folder_make(folder);
    snprintf(path, sizeof path, "%s/train.json", folder);
    EXPECT_OK(file_write_all(path, "{}", 2));
    return chdir(folder);
}

static int close_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static yoke_status parse(struct qa_command *command, const char *line)
{
    char copy[1024];
    char *argv[64];
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    return qa_command_parse(command, argc, argv);
}

static void expect_refused(const char *line, yoke_status status, const char *part)
{
    struct qa_command command;
    EXPECT_OK(parse(&command, line));
    EXPECT_FAIL(qa_command_check(&command), status, part);
    qa_command_fini(&command);
}

static void the_documented_command_works_as_typed(void **state)
{
    (void)state;
    struct qa_command command;
    EXPECT_OK(parse(&command,
                    "--model_name_or_path . --train_file train.json --do_train --do_eval "
                    "--per_device_train_batch_size 32 --num_train_epochs 1 --output_dir out "
                    "--no_cuda --bf16"));
    EXPECT_OK(qa_command_check(&command));
    assert_true(command.train.do_train && command.train.do_eval && command.train.bf16);
    assert_int_equal(command.train.per_device_train_batch_size, 32);
    assert_true(command.train.num_train_epochs == 1.0);
    assert_string_equal(command.train.output_dir, "out");
    assert_int_equal(command.qa.max_seq_length, 384);
    assert_int_equal(command.qa.doc_stride, 128);
    assert_true(command.qa.pad_to_max_length);
    assert_true(qa_command_evaluates(&command));
    assert_string_equal(qa_command_evaluation_file(&command), "train.json");
    qa_command_fini(&command);
}

static void older_and_newer_flags_are_understood(void **state)
{
    (void)state;
    struct qa_command command;
    EXPECT_OK(parse(&command,
                    "--model_name_or_path . --train_file train.json --validation_file train.json "
                    "--do_train --overwrite_output_dir --use_ipex --xpu_backend ccl "
                    "--evaluation_strategy steps --use_cpu --max-seq-length 128 --doc-stride 64 "
                    "--pad_to_max_length False"));
    EXPECT_OK(qa_command_check(&command));
    assert_true(command.train.overwrite_output_dir && command.train.use_ipex);
    assert_int_equal(command.qa.max_seq_length, 128);
    assert_false(command.qa.pad_to_max_length);
    assert_true(qa_command_evaluates(&command));
    qa_command_fini(&command);
    EXPECT_OK(parse(&command,
                    "--model_name_or_path . --train_file train.json --do_train --ddp_backend ccl "
                    "--eval_strategy no"));
    EXPECT_OK(qa_command_check(&command));
    assert_false(qa_command_evaluates(&command));
    qa_command_fini(&command);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    const char *train = "--model_name_or_path . --do_train";
    char line[256];
    expect_refused(train, YOKE_ERR_INVALID, "--train_file");
    snprintf(line, sizeof line, "%s --train_file none.json", train);
    expect_refused(line, YOKE_ERR_NOT_FOUND, "none.json");
    expect_refused("--model_name_or_path . --train_file train.json", YOKE_ERR_INVALID,
                   "--do_train");
    expect_refused("--train_file train.json --do_train", YOKE_ERR_INVALID, "--model_name_or_path");
    expect_refused("--config_name . --train_file train.json --do_train", YOKE_ERR_INVALID,
                   "--tokenizer_name");
    expect_refused(
        "--model_name_or_path distilbert-base-uncased --train_file train.json --do_train",
        YOKE_ERR_NOT_FOUND, "later version");
    expect_refused("--model_name_or_path . --dataset_name squad --do_train", YOKE_ERR_UNSUPPORTED,
                   "--train_file");
    expect_refused("--model_name_or_path . --version_2_with_negative --do_train",
                   YOKE_ERR_UNSUPPORTED, "--version_2_with_negative");
    snprintf(line, sizeof line, "%s --train_file train.json --max_seq_length 64 --doc_stride 64",
             train);
    expect_refused(line, YOKE_ERR_INVALID, "--doc_stride 64");
    expect_refused("--model_name_or_path . --answer Who?", YOKE_ERR_INVALID, "--context");
    expect_refused("--model_name_or_path . --context x", YOKE_ERR_INVALID, "--answer");
    expect_refused("--model_name_or_path . --answer Who? --context x --do_eval", YOKE_ERR_INVALID,
                   "--do_eval");
    expect_refused("--model_name_or_path . --train_file train.json --do_train --save_logits x",
                   YOKE_ERR_INVALID, "--save_logits needs an evaluation");
    struct qa_command command;
    EXPECT_FAIL(parse(&command, "--train_fil3 x"), YOKE_ERR_INVALID, "train_file");
    qa_command_fini(&command);
}

static void a_file_holds_all_arguments(void **state)
{
    (void)state;
    const char *text =
        "{\"model_name_or_path\": \".\", \"train_file\": \"train.json\", \"do_train\": true, "
        "\"learning_rate\": 3e-05, \"max_steps\": 7, \"data_seed\": null}";
    EXPECT_OK(file_write_all("args.json", text, strlen(text)));
    struct qa_command command;
    EXPECT_OK(parse(&command, "args.json"));
    EXPECT_OK(qa_command_check(&command));
    assert_true(command.train.learning_rate == 3e-5);
    assert_int_equal(command.train.max_steps, 7);
    assert_int_equal(command.train.data_seed, -1);
    qa_command_fini(&command);
    EXPECT_OK(file_write_all("args.json", "{\"do_tran\": 1}", 14));
    EXPECT_FAIL(parse(&command, "args.json"), YOKE_ERR_INVALID, "args.json");
    qa_command_fini(&command);
    EXPECT_OK(file_write_all("args.json", "{\"seed\": [1]}", 13));
    EXPECT_FAIL(parse(&command, "args.json"), YOKE_ERR_INVALID, "seed");
    qa_command_fini(&command);
}

static void an_answer_is_marked(void **state)
{
    (void)state;
    struct str text = {0};
    EXPECT_OK(qa_ask_mark("The mill is old.", 4, 8, false, &text));
    assert_string_equal(str_text(&text), "The «mill» is old.");
    str_clear(&text);
    EXPECT_OK(qa_ask_mark("ab", 1, 2, true, &text));
    assert_string_equal(str_text(&text), "a\033[1;32mb\033[0m");
    str_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_documented_command_works_as_typed),
        cmocka_unit_test(older_and_newer_flags_are_understood),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(a_file_holds_all_arguments),
        cmocka_unit_test(an_answer_is_marked),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
