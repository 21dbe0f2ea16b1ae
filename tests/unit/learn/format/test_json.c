/* Reading what Python writes, writing what Python writes, and errors with a position. */
#include "support.h"

#include <math.h>

#include "base/core/memory.h"
#include "learn/format/json.h"

static json_t *parse(const char *text)
{
    json_t *json = NULL;
    EXPECT_OK(json_read_text(text, strlen(text), "text", &json));
    return json;
}

static void expect_print(const char *text, int indent, bool sort_keys, const char *wanted)
{
    json_t *json = parse(text);
    struct str out = {0};
    EXPECT_OK(json_print(&out, json, indent, sort_keys));
    assert_string_equal(str_text(&out), wanted);
    str_fini(&out);
    json_decref(json);
}

static void expect_text(const char *text, const char *wanted)
{
    json_t *json = parse(text);
    assert_string_equal(json_string_value(json), wanted);
    json_decref(json);
}

static void test_broken_escapes_become_replacement_characters(void **state)
{
    (void)state;
    expect_text("\"a\\ud83d b\"", "a\xef\xbf\xbd b");
    expect_text("\"\\ude00\"", "\xef\xbf\xbd");
    expect_text("\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80");
    expect_text("\"\\uD83D\\uDE00\"", "\xf0\x9f\x98\x80");
    expect_text("\"x\\u0000y\"", "x\xef\xbf\xbdy");
    expect_text("\"\\\\ud83d\"", "\\ud83d"); /* an escaped backslash, no escape */
    expect_text("\"\\\"\\ud83d\"", "\"\xef\xbf\xbd");
    expect_text("\"1000000000000000000000000\"", "1000000000000000000000000");
}

static void test_numbers_keep_their_kind(void **state)
{
    (void)state;
    json_t *json = parse("[1, 1.0, 9223372036854775807, -9223372036854775808, 9223372036854775808, "
                         "1000000000000000019884624838656, -123456789012345678901234567890, "
                         "12345678901234567890.5, 1e-12, 1.00000000000000000000000001]");
    assert_true(json_is_integer(json_array_get(json, 0)));
    assert_true(json_is_real(json_array_get(json, 1)));
    assert_int_equal(json_integer_value(json_array_get(json, 2)), INT64_MAX);
    assert_int_equal(json_integer_value(json_array_get(json, 3)), INT64_MIN);
    assert_true(json_real_value(json_array_get(json, 4)) == 9223372036854775808.0);
    assert_true(json_real_value(json_array_get(json, 5)) == 1e30);
    assert_true(json_real_value(json_array_get(json, 6)) == -123456789012345678901234567890.0);
    assert_true(json_real_value(json_array_get(json, 7)) == 12345678901234567890.5);
    assert_true(json_real_value(json_array_get(json, 8)) == 1e-12);
    assert_true(json_real_value(json_array_get(json, 9)) == 1.0);
    json_decref(json);
}

static void test_a_byte_order_mark_is_skipped_and_the_last_key_wins(void **state)
{
    (void)state;
    expect_print("\xef\xbb\xbf{\"a\": 1, \"b\": 2, \"a\": 3}", 0, false, "{\"a\": 3, \"b\": 2}");
}

static void test_errors_name_file_line_and_column(void **state)
{
    (void)state;
    json_t *json = NULL;
    static const char *const broken[] = {"",
                                         "{",
                                         "{\"a\":}",
                                         "[1,]",
                                         "nul",
                                         "[1] [2]",
                                         "\"\xff\"",
                                         "\"\\u12",
                                         "\"\\",
                                         "[01]",
                                         "{1: 2}",
                                         "\"a\nb\"",
                                         "[1e999]",
                                         "[-]",
                                         "\"\\ud83d",
                                         "[NaN]",
                                         "{\"a\" 1}",
                                         "\xef\xbb\xbf",
                                         "12345678901234567890-"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        EXPECT_FAIL(json_read_text(broken[i], strlen(broken[i]), "data.json", &json),
                    YOKE_ERR_FORMAT, "data.json is not JSON: line ");
    }
    const char *text = "{\n \"a\": \"\\ud83d\",\n \"b\": ?\n}";
    EXPECT_FAIL(json_read_text(text, strlen(text), "data.json", &json), YOKE_ERR_FORMAT,
                "line 3, column 7");
    EXPECT_FAIL(json_read_file("/nowhere/data.json", &json), YOKE_ERR_NOT_FOUND,
                "/nowhere/data.json");
    assert_null(json);
}

static void test_a_depth_bomb_is_an_error(void **state)
{
    (void)state;
    enum { DEPTH = 100000 };
    char *bomb = mem_calloc(DEPTH, 1);
    memset(bomb, '[', DEPTH);
    json_t *json = NULL;
    EXPECT_FAIL(json_read_text(bomb, DEPTH, "bomb", &json), YOKE_ERR_FORMAT, "depth");
    mem_free(bomb);
}

static void expect_double(double value, const char *wanted)
{
    char buffer[32];
    assert_string_equal(json_format_double(value, buffer), wanted);
}

static void test_doubles_print_as_python_prints_them(void **state)
{
    (void)state;
    expect_double(0.0, "0.0");
    expect_double(-0.0, "-0.0");
    expect_double(1.0, "1.0");
    expect_double(0.1, "0.1");
    expect_double(5e-05, "5e-05");
    expect_double(0.0001, "0.0001");
    expect_double(0.00012345, "0.00012345");
    expect_double(1e-12, "1e-12");
    expect_double(1e16, "1e+16");
    expect_double(1e15, "1000000000000000.0");
    expect_double(9999999999999998.0, "9999999999999998.0");
    expect_double(1.5e300, "1.5e+300");
    expect_double(-123.456, "-123.456");
    expect_double(0.1 + 0.2, "0.30000000000000004");
    expect_double(1.0 / 3.0, "0.3333333333333333");
    expect_double(2.0 / 3.0, "0.6666666666666666");
    expect_double(100.0, "100.0");
    expect_double(79.42999999999999, "79.42999999999999");
    expect_double(5e-324, "5e-324");
    expect_double(0x1p-1017, "7.120236347223045e-307"); /* the nearer ...044 reads back as less */
    expect_double(2.2250738585072014e-308, "2.2250738585072014e-308");
    expect_double(1.7976931348623157e308, "1.7976931348623157e+308");
    expect_double((double)0.1f, "0.10000000149011612");
    expect_double(NAN, "nan");
    expect_double(-INFINITY, "-inf");
}

static void test_values_print_as_python_prints_them(void **state)
{
    (void)state;
    const char *text = "{\"b\":[1,2.50,{}],\"a\":{\"x\":[],\"y\":null},\"c\":[true,false]}";
    expect_print(text, 0, false,
                 "{\"b\": [1, 2.5, {}], \"a\": {\"x\": [], \"y\": null}, \"c\": [true, false]}");
    expect_print(
        text, 2, true,
        "{\n  \"a\": {\n    \"x\": [],\n    \"y\": null\n  },\n  \"b\": [\n    1,\n    2.5,\n"
        "    {}\n  ],\n  \"c\": [\n    true,\n    false\n  ]\n}");
    expect_print("[1]", 4, false, "[\n    1\n]");
    expect_print("\"\xc3\xa9 \xf0\x9f\x98\x80 \\\" \\\\ / \\n\\r\\t\\f\\b\\u0001\x7f\"", 0, false,
                 "\"\\u00e9 \\ud83d\\ude00 \\\" \\\\ / \\n\\r\\t\\f\\b\\u0001\\u007f\"");
}

static void test_a_file_comes_back(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    char *path = str_path(folder, "a.json");
    json_t *json = parse("{\"z\": 1, \"a\": [0.5, \"\xc3\xa9\"]}");
    EXPECT_OK(json_write_file(path, json, 2, false));
    struct file_map map;
    EXPECT_OK(file_map_open(path, &map));
    static const char wanted[] = "{\n  \"z\": 1,\n  \"a\": [\n    0.5,\n    \"\\u00e9\"\n  ]\n}\n";
    assert_int_equal(map.size_bytes, sizeof wanted - 1);
    assert_memory_equal(map.data, wanted, sizeof wanted - 1);
    file_map_close(&map);
    json_t *again = NULL;
    EXPECT_OK(json_read_file(path, &again));
    assert_true(json_equal(json, again));
    json_decref(again);
    json_decref(json);
    mem_free(path);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_escapes_become_replacement_characters),
        cmocka_unit_test(test_numbers_keep_their_kind),
        cmocka_unit_test(test_a_byte_order_mark_is_skipped_and_the_last_key_wins),
        cmocka_unit_test(test_errors_name_file_line_and_column),
        cmocka_unit_test(test_a_depth_bomb_is_an_error),
        cmocka_unit_test(test_doubles_print_as_python_prints_them),
        cmocka_unit_test(test_values_print_as_python_prints_them),
        cmocka_unit_test(test_a_file_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
