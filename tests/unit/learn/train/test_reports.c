/* Formats that users' scripts read. */
#include "support.h"

#include <math.h>

#include "base/core/memory.h"
#include "learn/train/reports.h"

static void numbers_round_as_pythons(void **state)
{
    (void)state;
    assert_true(report_round(2.675, 2) == 2.67); /* the double lies below the tie */
    assert_true(report_round(0.5, 0) == 0.0);
    assert_true(report_round(1.23456, 4) == 1.2346);
    assert_true(report_round(-1.5, 0) == -2.0);
}

static void dictionaries_read_as_pythons(void **state)
{
    (void)state;
    json_t *metrics = json_object();
    EXPECT_OK(report_set_real(metrics, "loss", 1.2345));
    EXPECT_OK(report_set_real(metrics, "grad_norm", 12.0));
    EXPECT_OK(report_set_real(metrics, "learning_rate", 5e-05));
    EXPECT_OK(report_set_integer(metrics, "eval_samples", 12));
    EXPECT_OK(report_set_real(metrics, "nothing", NAN));
    json_object_set_new(metrics, "name", json_string("x"));
    json_object_set_new(metrics, "flag", json_true());
    struct str text = {0};
    EXPECT_OK(report_format_dict(metrics, &text));
    assert_string_equal(str_text(&text),
                        "{'loss': 1.2345, 'grad_norm': 12.0, 'learning_rate': 5e-05, "
                        "'eval_samples': 12, 'nothing': None, 'name': 'x', 'flag': True}");
    str_fini(&text);
    json_decref(metrics);
}

static void tables_are_aligned(void **state)
{
    (void)state;
    json_t *metrics = json_object();
    EXPECT_OK(report_set_speed(metrics, "train", 3725.678, 7200.0, 100.0));
    EXPECT_OK(report_set_real(metrics, "total_flos", 3.0 * 1073741824.0 + 5.0));
    EXPECT_OK(report_set_real(metrics, "train_loss", 1.234567));
    EXPECT_OK(report_set_real(metrics, "epoch", 1.0));
    EXPECT_OK(report_set_integer(metrics, "train_samples", 1190));
    struct str text = {0};
    EXPECT_OK(report_format_table("train", metrics, &text));
    assert_string_equal(str_text(&text), "***** train metrics *****\n"
                                         "  epoch                    =        1.0\n"
                                         "  total_flos               =        3GF\n"
                                         "  train_loss               =     1.2346\n"
                                         "  train_runtime            = 1:02:05.67\n"
                                         "  train_samples            =       1190\n"
                                         "  train_samples_per_second =      1.933\n"
                                         "  train_steps_per_second   =      0.027\n");
    str_fini(&text);
    json_decref(metrics);
}

static double read_number(const char *folder, const char *file, const char *key)
{
    char *path = str_path(folder, file);
    json_t *json;
    EXPECT_OK(json_read_file(path, &json));
    const double value = json_number_value(json_object_get(json, key));
    json_decref(json);
    mem_free(path);
    return value;
}

static void results_of_all_stages_are_merged(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    json_t *train = json_object();
    json_t *eval = json_object();
    EXPECT_OK(report_set_real(train, "train_loss", 0.5));
    EXPECT_OK(report_set_real(train, "epoch", 1.0));
    EXPECT_OK(report_set_real(eval, "eval_f1", 88.5));
    EXPECT_OK(report_set_real(eval, "epoch", 2.0));
    EXPECT_OK(report_results(folder, "train", train));
    EXPECT_OK(report_results(folder, "eval", eval));
    assert_true(read_number(folder, "all_results.json", "train_loss") == 0.5);
    assert_true(read_number(folder, "all_results.json", "eval_f1") == 88.5);
    assert_true(read_number(folder, "all_results.json", "epoch") == 2.0);
    assert_true(read_number(folder, "train_results.json", "epoch") == 1.0);
    assert_true(read_number(folder, "eval_results.json", "eval_f1") == 88.5);
    json_decref(train);
    json_decref(eval);
    test_folder_remove(folder);
}

static void foreign_results_are_not_overwritten(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    char *path = str_path(folder, "all_results.json");
    EXPECT_OK(file_write_all(path, "[1, 2]", 6));
    json_t *eval = json_object();
    EXPECT_OK(report_set_real(eval, "eval_f1", 88.5));
    EXPECT_FAIL(report_results(folder, "eval", eval), YOKE_ERR_FORMAT, "all_results.json");
    struct file_map map;
    EXPECT_OK(file_map_open(path, &map));
    assert_int_equal(map.size_bytes, 6);
    file_map_close(&map);
    json_decref(eval);
    mem_free(path);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_round_as_pythons),
        cmocka_unit_test(dictionaries_read_as_pythons),
        cmocka_unit_test(tables_are_aligned),
        cmocka_unit_test(results_of_all_stages_are_merged),
        cmocka_unit_test(foreign_results_are_not_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
