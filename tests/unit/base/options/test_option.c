/* The option table: every type, ranges, names, precedence, the help page. */
#include "support.h"

#include <fcntl.h>

#include "base/core/memory.h"
#include "base/options/option.h"

struct values {
    bool train;
    bool pad;
    int64_t steps;
    double rate;
    const char *folder;
    int strategy;
    double epochs;
};

struct more_values {
    int64_t port;
    bool use_cpu;
};

static const struct option_def defs[] = {
    {"do_train", NULL, OPTION_BOOL, "false", NULL, NULL, "Work", "Trains the model.",
     offsetof(struct values, train)},
    {"pad_to_max_length", NULL, OPTION_BOOL, "True", NULL, NULL, "Data",
     "Pads every window to the same length.", offsetof(struct values, pad)},
    {"save_steps", NULL, OPTION_INT, "500", "1..1000", "YOKE_TEST_SAVE_STEPS", "Work",
     "Steps between two checkpoints.", offsetof(struct values, steps)},
    {"learning_rate", "lr", OPTION_FLOAT, "5e-5", ">0", NULL, "Work",
     "The highest learning rate, which the schedule reaches after its warm-up and leaves again "
     "afterwards.",
     offsetof(struct values, rate)},
    {"output_dir", NULL, OPTION_STRING, NULL, NULL, "YOKE_TEST_OUTPUT_DIR", "Data",
     "Where the model goes.", offsetof(struct values, folder)},
    {"save_strategy", "checkpoint_strategy,when", OPTION_CHOICE, "steps", "no,steps,epoch", NULL,
     "Work", "When checkpoints are written.", offsetof(struct values, strategy)},
    {"num_train_epochs_with_a_long_name", NULL, OPTION_FLOAT, "3.0", "0..10", NULL, "Work",
     "Passes over the data.", offsetof(struct values, epochs)},
};

static const struct option_def more_defs[] = {
    {"port", NULL, OPTION_INT, "-1", NULL, NULL, "Network", "A port.",
     offsetof(struct more_values, port)},
    {"use_cpu", "no_cuda,!use_gpu", OPTION_BOOL, "false", NULL, NULL, "Network",
     "Computes on the CPU.", offsetof(struct more_values, use_cpu)},
};

struct fixture {
    struct values values;
    struct more_values more;
    struct option_table tables[2];
    struct option_set set;
};

static int set_up(void **state)
{
    static struct fixture f;
    unsetenv("YOKE_TEST_SAVE_STEPS");
    unsetenv("YOKE_TEST_OUTPUT_DIR");
    memset(&f, 0x5a, sizeof f); /* what init does not write shows */
    f.tables[0] = (struct option_table){defs, sizeof defs / sizeof *defs, &f.values};
    f.tables[1] = (struct option_table){more_defs, sizeof more_defs / sizeof *more_defs, &f.more};
    EXPECT_OK(option_set_init(&f.set, f.tables, 2));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    option_set_fini(&f->set);
    return 0;
}

#define PARSE(f, ...)                                                                              \
    option_set_parse(&(f)->set, (int)(sizeof(char *[]){__VA_ARGS__} / sizeof(char *)),             \
                     (char *[]){__VA_ARGS__}, NULL)

static void defaults_come_first(void **state)
{
    struct fixture *f = *state;
    assert_false(f->values.train);
    assert_true(f->values.pad);
    assert_int_equal(f->values.steps, 500);
    assert_true(f->values.rate == 5e-5);
    assert_null(f->values.folder);
    assert_int_equal(f->values.strategy, 1);
    assert_int_equal(f->more.port, -1);
    assert_int_equal(option_set_source(&f->set, "save_steps"), OPTION_FROM_DEFAULT);
}

static void flags_set_every_type(void **state)
{
    struct fixture *f = *state;
    EXPECT_OK(PARSE(f, "--do_train", "--save_steps", "7", "--learning-rate=1e-3", "--output_dir",
                    "a b", "--save_strategy", "epoch", "--port", "-29500", "--no_cuda"));
    assert_true(f->values.train);
    assert_int_equal(f->values.steps, 7);
    assert_true(f->values.rate == 1e-3);
    assert_string_equal(f->values.folder, "a b");
    assert_int_equal(f->values.strategy, 2);
    assert_int_equal(f->more.port, -29500);
    assert_true(f->more.use_cpu);
    assert_int_equal(option_set_source(&f->set, "port"), OPTION_FROM_FLAG);
    assert_int_equal(option_set_source(&f->set, "pad_to_max_length"), OPTION_FROM_DEFAULT);
}

static void bools_take_a_word_only_if_it_reads_as_one(void **state)
{
    struct fixture *f = *state;
    EXPECT_OK(PARSE(f, "--do_train", "Yes", "--pad_to_max_length", "F"));
    assert_true(f->values.train);
    assert_false(f->values.pad);
    EXPECT_OK(PARSE(f, "--do_train=0"));
    assert_false(f->values.train);
    int rest = -1;
    char *words[] = {"--do_train", "file.json", "--port"};
    EXPECT_OK(option_set_parse(&f->set, 3, words, &rest));
    assert_true(f->values.train);
    assert_int_equal(rest, 1);
    EXPECT_FAIL(PARSE(f, "--do_train", "maybe"), YOKE_ERR_INVALID, "'maybe' belongs to no option");
    EXPECT_FAIL(PARSE(f, "--do_train=maybe"), YOKE_ERR_INVALID,
                "'--do_train' has value 'maybe': expected true or false");
}

static void negations_turn_off(void **state)
{
    struct fixture *f = *state;
    EXPECT_OK(PARSE(f, "--no_pad_to_max_length"));
    assert_false(f->values.pad);
    EXPECT_OK(PARSE(f, "--pad_to_max_length"));
    assert_true(f->values.pad);
    EXPECT_OK(PARSE(f, "--no-pad-to-max-length"));
    assert_false(f->values.pad);
    EXPECT_OK(PARSE(f, "--use_cpu", "--use_gpu"));
    assert_false(f->more.use_cpu);
    EXPECT_OK(PARSE(f, "--use_gpu=false"));
    assert_true(f->more.use_cpu);
    EXPECT_FAIL(PARSE(f, "--no_do_train"), YOKE_ERR_INVALID, "unknown option '--no_do_train'");
}

static void unique_prefixes_and_aliases_count(void **state)
{
    struct fixture *f = *state;
    EXPECT_OK(PARSE(f, "--lr", "2", "--when", "no", "--out", "x", "--save_ste", "3"));
    assert_true(f->values.rate == 2.0);
    assert_int_equal(f->values.strategy, 0);
    assert_string_equal(f->values.folder, "x");
    assert_int_equal(f->values.steps, 3);
    EXPECT_FAIL(PARSE(f, "--save", "3"), YOKE_ERR_INVALID,
                "'--save' is short for both '--save_steps' and '--save_strategy'");
    EXPECT_FAIL(PARSE(f, "--use", "true"), YOKE_ERR_INVALID,
                "'--use' is short for both '--use_cpu' and '--use_gpu'");
}

static void unknown_names_get_the_nearest(void **state)
{
    struct fixture *f = *state;
    EXPECT_FAIL(PARSE(f, "--learnign_rate", "1"), YOKE_ERR_INVALID,
                "unknown option '--learnign_rate'; did you mean '--learning_rate'?");
    EXPECT_FAIL(PARSE(f, "--checkpoint-strategies=no"), YOKE_ERR_INVALID,
                "'--checkpoint_strategy'");
    EXPECT_FAIL(PARSE(f, "--ouptut", "x"), YOKE_ERR_INVALID, "did you mean '--output_dir'?");
    EXPECT_FAIL(PARSE(f, "--zzzzzzzzzzzz"), YOKE_ERR_INVALID, "--help lists them");
    EXPECT_FAIL(PARSE(f, "--=3"), YOKE_ERR_INVALID, "unknown option");
    EXPECT_FAIL(PARSE(f, "--"), YOKE_ERR_INVALID, "'--' belongs to no option");
    char long_name[200] = "--";
    memset(long_name + 2, 'a', 150);
    EXPECT_FAIL(PARSE(f, long_name), YOKE_ERR_INVALID, "unknown option");
}

static void bad_values_print_the_range(void **state)
{
    struct fixture *f = *state;
    EXPECT_FAIL(PARSE(f, "--save_steps", "0"), YOKE_ERR_INVALID,
                "'--save_steps' has value '0': expected a whole number in 1..1000");
    EXPECT_FAIL(PARSE(f, "--save_steps", "1001"), YOKE_ERR_INVALID, "1..1000");
    EXPECT_FAIL(PARSE(f, "--save_steps", "1.5"), YOKE_ERR_INVALID, "'1.5'");
    EXPECT_FAIL(PARSE(f, "--save_steps="), YOKE_ERR_INVALID, "1..1000");
    EXPECT_FAIL(PARSE(f, "--lr", "0"), YOKE_ERR_INVALID, "expected a number in >0");
    EXPECT_FAIL(PARSE(f, "--lr", "nan"), YOKE_ERR_INVALID, "'nan'");
    EXPECT_FAIL(PARSE(f, "--save_strategy", "step"), YOKE_ERR_INVALID,
                "expected one of no,steps,epoch");
    EXPECT_FAIL(PARSE(f, "--save_strategy", ""), YOKE_ERR_INVALID, "one of");
    EXPECT_FAIL(PARSE(f, "--output_dir"), YOKE_ERR_INVALID, "'--output_dir' needs a value: a text");
    EXPECT_FAIL(PARSE(f, "--save_steps", "--lr", "1"), YOKE_ERR_INVALID,
                "'--save_steps' needs a value: a whole number 1..1000");
    assert_int_equal(f->values.steps, 500);
    assert_true(f->values.rate == 5e-5);
    EXPECT_OK(PARSE(f, "--save_steps", "1", "--num_train_epochs", "10"));
    EXPECT_OK(PARSE(f, "--save_steps", "1000", "--num_train_epochs", "0"));
    EXPECT_FAIL(PARSE(f, "--num_train_epochs", "10.01"), YOKE_ERR_INVALID, "0..10");
}

static void the_stronger_source_wins(void **state)
{
    struct fixture *f = *state;
    EXPECT_OK(option_set_value(&f->set, "save_steps", "20", OPTION_FROM_FILE));
    assert_int_equal(f->values.steps, 20);
    EXPECT_OK(option_set_value(&f->set, "save_steps", "30", OPTION_FROM_FLAG));
    EXPECT_OK(option_set_value(&f->set, "save_steps", "40", OPTION_FROM_FILE));
    assert_int_equal(f->values.steps, 30);
    EXPECT_FAIL(option_set_value(&f->set, "save_steps", "x", OPTION_FROM_FILE), YOKE_ERR_CONFIG,
                "option 'save_steps' has value 'x'");
    EXPECT_FAIL(option_set_value(&f->set, "save_stps", "1", OPTION_FROM_FILE), YOKE_ERR_INVALID,
                "unknown option 'save_stps'; did you mean 'save_steps'?");
}

static void the_environment_stands_between_file_and_flag(void **state)
{
    struct fixture *f = *state;
    option_set_fini(&f->set);
    setenv("YOKE_TEST_SAVE_STEPS", "11", 1);
    setenv("YOKE_TEST_OUTPUT_DIR", "from-env", 1);
    EXPECT_OK(option_set_init(&f->set, f->tables, 2));
    assert_int_equal(f->values.steps, 11);
    assert_string_equal(f->values.folder, "from-env");
    assert_int_equal(option_set_source(&f->set, "output_dir"), OPTION_FROM_ENV);
    EXPECT_OK(option_set_value(&f->set, "save_steps", "20", OPTION_FROM_FILE));
    assert_int_equal(f->values.steps, 11);
    EXPECT_OK(PARSE(f, "--save_steps", "12"));
    assert_int_equal(f->values.steps, 12);
    option_set_fini(&f->set);
    setenv("YOKE_TEST_SAVE_STEPS", "many", 1);
    EXPECT_FAIL(
        option_set_init(&f->set, f->tables, 2), YOKE_ERR_CONFIG,
        "YOKE_TEST_SAVE_STEPS='many' in the environment: expected a whole number in 1..1000");
}

static void choices_have_their_text(void **state)
{
    (void)state;
    const struct option_def def = {
        .name = "when", .type = OPTION_CHOICE, .range = "no,steps,epoch"};
    static const char *const wanted[] = {"no", "steps", "epoch"};
    for (int i = 0; i < 3; i++) {
        char *text = option_choice_text(&def, i);
        assert_string_equal(text, wanted[i]);
        mem_free(text);
    }
}

static void wrong_tables_are_refused(void **state)
{
    struct fixture *f = *state;
    struct option_set set;
    static const struct option_def no_default = {"n",  NULL, OPTION_INT, NULL, NULL,
                                                 NULL, "g",  "d",        0};
    const struct option_table table = {&no_default, 1, &f->more};
    EXPECT_FAIL(option_set_init(&set, &table, 1), YOKE_ERR_INTERNAL, "no default");
    const struct option_table many = {defs, OPTION_MAX + 1, &f->values};
    EXPECT_FAIL(option_set_init(&set, &many, 1), YOKE_ERR_LIMIT, "at most");
}

static const char wanted_page[] =
    "Work:\n"
    "  --do_train                      Trains the model. [default false]\n"
    "  --save_steps N                  Steps between two checkpoints. [default 500; 1..1000; env\n"
    "                                  YOKE_TEST_SAVE_STEPS]\n"
    "  --learning_rate X               The highest learning rate, which the schedule reaches after "
    "its\n"
    "                                  warm-up and leaves again afterwards. [default 5e-5; >0; "
    "also --lr]\n"
    "  --save_strategy CHOICE          When checkpoints are written. [default steps; one of\n"
    "                                  no,steps,epoch; also --checkpoint_strategy, --when]\n"
    "  --num_train_epochs_with_a_long_name X\n"
    "                                  Passes over the data. [default 3.0; 0..10]\n"
    "\n"
    "Data:\n"
    "  --pad_to_max_length             Pads every window to the same length. [default True; also\n"
    "                                  --no_pad_to_max_length]\n"
    "  --output_dir TEXT               Where the model goes. [default none; env "
    "YOKE_TEST_OUTPUT_DIR]\n"
    "\n"
    "Network:\n"
    "  --port N                        A port. [default -1]\n"
    "  --use_cpu                       Computes on the CPU. [default false; also --no_cuda, "
    "--use_gpu]\n";

static void help_is_grouped_and_wrapped(void **state)
{
    struct fixture *f = *state;
    char folder[64];
    char path[96];
    test_folder_make(folder);
    snprintf(path, sizeof path, "%s/help", folder);
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(file >= 0);
    dup2(file, STDOUT_FILENO);
    option_set_help(&f->set);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    struct file_map got;
    EXPECT_OK(file_map_open(path, &got));
    char page[sizeof wanted_page + 512] = "";
    assert_true(got.size_bytes < sizeof page);
    memcpy(page, got.data, got.size_bytes);
    file_map_close(&got);
    assert_string_equal(page, wanted_page);
    test_folder_remove(folder);
}

static void unknown_words_get_the_nearest(void **state)
{
    (void)state;
    static const char *const commands[] = {"qa", "launch", "env", NULL};
    EXPECT_FAIL(option_fail_unknown("command", "lanch", commands), YOKE_ERR_INVALID,
                "unknown command 'lanch'; did you mean 'launch'?");
    EXPECT_FAIL(option_fail_unknown("command", "classify", commands), YOKE_ERR_INVALID,
                "unknown command 'classify'; --help lists them");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(defaults_come_first),
        CASE(flags_set_every_type),
        CASE(bools_take_a_word_only_if_it_reads_as_one),
        CASE(negations_turn_off),
        CASE(unique_prefixes_and_aliases_count),
        CASE(unknown_names_get_the_nearest),
        CASE(bad_values_print_the_range),
        CASE(the_stronger_source_wins),
        CASE(the_environment_stands_between_file_and_flag),
        CASE(choices_have_their_text),
        CASE(wrong_tables_are_refused),
        CASE(help_is_grouped_and_wrapped),
        cmocka_unit_test(unknown_words_get_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
