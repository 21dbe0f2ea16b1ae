/* Layouts, what they have in common, and what is said about broken files. */
#include "support.h"

#include "learn/task/qa_data.h"

#define TWO_ANSWERS                                                                                \
    "[{\"text\": \"mill\", \"answer_start\": 4}, {\"text\": \"The mill\", \"answer_start\": 0}]"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    test_folder_make(folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

/* Writes `text` to the file that read_file() reads. */
static const char *write_file(const char *text)
{
    static char path[80];
    snprintf(path, sizeof path, "%s/data.json", folder);
    EXPECT_OK(file_write_all(path, text, strlen(text)));
    return path;
}

static yoke_status read_text(const char *text, size_t limit, struct qa_data *data)
{
    return qa_data_read(write_file(text), limit, data);
}

static void expect_failure(const char *text, const char *part)
{
    struct qa_data data = {0};
    EXPECT_FAIL(read_text(text, SIZE_MAX, &data), YOKE_ERR_FORMAT, part);
    assert_null(data.examples);
}

static void expect_mill(const struct qa_data *data, size_t n)
{
    assert_int_equal(data->n_examples, n);
    const struct qa_example *first = &data->examples[0];
    assert_string_equal(first->id, "q1");
    assert_string_equal(first->question, "What?");
    assert_int_equal(first->question_bytes, 5);
    assert_string_equal(first->context, "The mill stands.");
    assert_int_equal(first->context_bytes, 16);
    assert_int_equal(first->n_answers, 2);
    assert_string_equal(first->answers[0].text, "mill");
    assert_int_equal(first->answers[0].start, 4);
    assert_int_equal(first->answers[0].n_codepoints, 4);
    assert_string_equal(first->answers[1].text, "The mill");
}

static void all_layouts_read_alike(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* Official, nested; white space before the question goes. */
        "{\"version\": \"1.1\", \"data\": [{\"title\": \"t\", \"paragraphs\": [{\"context\": \"The "
        "mill stands.\","
        "\"qas\": [{\"id\": \"q1\", \"question\": \" \\u00a0What?\", \"answers\": " TWO_ANSWERS "},"
        "{\"id\": \"q2\", \"question\": \"Who?\"}]}]}]}",
        /* Flat rows, answers as two lists. */
        "{\"data\": [{\"id\": \"q1\", \"question\": \"What?\", \"context\": \"The mill stands.\","
        "\"answers\": {\"text\": [\"mill\", \"The mill\"], \"answer_start\": [4, 0]}},\n"
        "{\"id\": \"q2\", \"question\": \"Who?\", \"context\": \"x\", \"answers\": {\"text\": [], "
        "\"answer_start\": []}}]}",
        /* A row a line, with a BOM, CRLF and blank lines. */
        "\xef\xbb\xbf{\"id\": \"q1\", \"question\": \"What?\", \"context\": \"The mill stands.\", "
        "\"answers\": " TWO_ANSWERS
        "}\r\n\r\n{\"id\": \"q2\", \"question\": \"Who?\", \"context\": \"x\"}\r\n  \n",
        /* A list of rows. */
        "[{\"id\": \"q1\", \"question\": \"What?\", \"context\": \"The mill stands.\", "
        "\"answers\": " TWO_ANSWERS
        "}, {\"id\": 7, \"question\": \"Who?\", \"context\": \"x\", \"answers\": null}]",
        /* Pretty-printed. */
        "{\n \"data\": [\n  {\n   \"id\": \"q1\",\n   \"question\": \"What?\",\n   \"context\": "
        "\"The mill stands.\",\n"
        "   \"answers\": " TWO_ANSWERS
        "\n  },\n  {\"id\": \"q2\", \"question\": \"Who?\", \"context\": \"x\"}\n ]\n}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct qa_data data = {0};
        EXPECT_OK(read_text(texts[i], SIZE_MAX, &data));
        expect_mill(&data, 2);
        assert_string_equal(data.examples[1].id, i == 3 ? "7" : "q2");
        assert_int_equal(data.examples[1].n_answers, 0);
        assert_null(data.examples[1].answers);
        qa_data_fini(&data);
    }
}

static void one_row_is_a_file(void **state)
{
    (void)state;
    struct qa_data data = {0};
    EXPECT_OK(
        read_text("{\"id\": \"q1\", \"question\": \"What?\", \"context\": \"The mill stands.\", "
                  "\"answers\": " TWO_ANSWERS "}\n",
                  SIZE_MAX, &data));
    expect_mill(&data, 1);
    qa_data_fini(&data);
}

static void a_paragraph_shares_its_context(void **state)
{
    (void)state;
    struct qa_data data = {0};
    EXPECT_OK(
        read_text("{\"data\": [{\"paragraphs\": [{\"context\": \"c\", \"qas\": [{\"id\": \"1\", "
                  "\"question\": \"a\"}, {\"id\": \"2\", \"question\": \"b\"}]}]}]}",
                  SIZE_MAX, &data));
    assert_ptr_equal(data.examples[0].context, data.examples[1].context);
    qa_data_fini(&data);
}

static void the_limit_keeps_the_first(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"data\": [{\"paragraphs\": [{\"context\": \"c\", \"qas\": [{\"id\": \"1\", "
        "\"question\": \"a\"}, "
        "{\"id\": \"2\", \"question\": \"b\"}]}, {\"context\": \"d\", \"qas\": [{\"id\": \"3\", "
        "\"question\": \"e\"}]}]}]}",
        "{\"id\": \"1\", \"question\": \"a\", \"context\": \"c\"}\n{\"id\": \"2\", \"question\": "
        "\"b\", \"context\": "
        "\"c\"}\n{\"id\": \"3\", \"question\": \"e\", \"context\": \"d\"}\n",
    };
    for (size_t i = 0; i < 2; i++) {
        struct qa_data data = {0};
        EXPECT_OK(read_text(texts[i], 2, &data));
        assert_int_equal(data.n_examples, 2);
        assert_string_equal(data.examples[1].id, "2");
        qa_data_fini(&data);
    }
}

static void impossible_questions_have_no_answer(void **state)
{
    (void)state;
    struct qa_data data = {0};
    EXPECT_OK(read_text("{\"data\": [{\"paragraphs\": [{\"context\": \"c\", \"qas\": [{\"id\": "
                        "\"1\", \"question\": "
                        "\"a\", \"is_impossible\": true, \"answers\": [], \"plausible_answers\": "
                        "[{\"text\": \"c\", "
                        "\"answer_start\": 0}]}]}]}]}",
                        SIZE_MAX, &data));
    assert_int_equal(data.examples[0].n_answers, 0);
    qa_data_fini(&data);
}

static void places_count_code_points(void **state)
{
    (void)state;
    struct qa_data data = {0};
    EXPECT_OK(
        read_text("{\"data\": [{\"id\": \"1\", \"question\": \"a\", \"context\": "
                  "\"\\u00e4\\ud83d\\udc4b\\u0000 "
                  "\\u20ac50\", \"answers\": [{\"text\": \"\\u20ac5\", \"answer_start\": 4}]}]}",
                  SIZE_MAX, &data));
    assert_int_equal(data.examples[0].answers[0].n_codepoints, 2);
    qa_data_fini(&data);
}

/* A flat file of one row with the context "The mill, \u00e4 mill." and this answer. */
static const char *misplaced(const char *text, int start)
{
    static char json[1024];
    snprintf(json, sizeof json,
             "{\"data\": [{\"id\": \"q9\", \"question\": \"What?\", \"context\": \"The mill, "
             "\\u00e4 mill.\", "
             "\"answers\": [{\"text\": \"%s\", \"answer_start\": %d}]}]}",
             text, start);
    return json;
}

static void misplaced_answers_are_located(void **state)
{
    (void)state;
    expect_failure(misplaced("mill", 5),
                   "data.json: question q9: the answer 'mill' is not at answer_start 5 "
                   "(there: 'ill,') but at 4; correct answer_start");
    expect_failure(misplaced("mill", 13),
                   "but at 12; correct answer_start, which counts characters");
    expect_failure(misplaced("mill", 14), "but at 12; correct answer_start");
    expect_failure(misplaced("mill", 1000), "(there: '') but at 12");
    expect_failure(misplaced("mill", 7), "but at 4;");
    expect_failure(misplaced("barn", 4),
                   "stands nowhere in the context (at answer_start 4: 'mill')");
    expect_failure(misplaced("mill. and on", 12), "stands nowhere in the context");
    expect_failure(misplaced("", 1000), "stands nowhere");
    expect_failure(misplaced("mill", -1), "question q9: the answer 'mill' has no \"answer_start\"");
    /* Long texts are cut in the message, by whole characters. */
    char wide[256] = "";
    for (int i = 0; i < 60; i++) {
        strcat(wide, "\\u00e4");
        wide[2 * i] = '\xc3';
        wide[2 * i + 1] = '\xa4';
        wide[2 * i + 2] = '\0';
    }
    struct qa_data data = {0};
    EXPECT_FAIL(read_text(misplaced(wide, 0), SIZE_MAX, &data), YOKE_ERR_FORMAT, "stands nowhere");
    assert_int_equal(strlen(strchr(yoke_last_error(), '\xc3')) -
                         strlen(strstr(yoke_last_error(), "' stands")),
                     80);
}

static void broken_rows_are_named(void **state)
{
    (void)state;
    expect_failure("{\"data\": [{\"id\": \"1\", \"context\": \"c\"}]}",
                   "question 1: \"question\" is missing");
    expect_failure("{\"data\": [{\"id\": \"1\", \"question\": 5, \"context\": \"c\"}]}",
                   "question 1: \"question\" is no text");
    expect_failure("{\"data\": [{\"id\": \"1\", \"question\": \"q\"}]}",
                   "question 1: \"context\" is missing");
    expect_failure("{\"data\": [{\"question\": \"q\", \"context\": \"c\"}]}",
                   "question number 1: \"id\" is missing");
    expect_failure("{\"data\": [{\"id\": [], \"question\": \"q\", \"context\": \"c\"}]}",
                   "\"id\" is neither");
    expect_failure("{\"data\": [17]}", "question number 1: \"id\" is missing");
    expect_failure("{\"data\": [{\"id\": \"1\", \"question\": \"q\", \"context\": \"c\", "
                   "\"answers\": \"c\"}]}",
                   "question 1: \"answers\" must be");
    expect_failure("{\"data\": [{\"id\": \"1\", \"question\": \"q\", \"context\": \"c\", "
                   "\"answers\": {\"text\": "
                   "[\"c\"], \"answer_start\": []}}]}",
                   "of one length");
    expect_failure(
        "{\"data\": [{\"id\": \"1\", \"question\": \"q\", \"context\": \"c\", \"answers\": [{}]}]}",
        "an answer has no \"text\"");
    expect_failure("{\"data\": [{\"paragraphs\": [{\"context\": \"c\"}]}]}", "has no list \"qas\"");
    expect_failure(
        "{\"data\": [{\"id\": \"1\", \"question\": \"q\", \"context\": \"c\"}, {\"id\": \"2\", "
        "\"question\": "
        "\"q\", \"context\": \"c\"}, {\"id\": \"1\", \"question\": \"q\", \"context\": \"c\"}]}",
        "question 1: the id occurs twice");
}

static void broken_files_are_named(void **state)
{
    (void)state;
    expect_failure("", "data.json");
    expect_failure("{\"data\": []}", "has not a single question");
    expect_failure("{\"rows\": []}", "has no questions: expected");
    expect_failure("{\"data\": [\n{\"id\": \"1\",}]}", "line 2, column 12");
    expect_failure("{\"id\": \"1\", \"question\": \"q\", \"context\": \"c\"}\n{\"id\": \"2\", \n",
                   "line 2 of ");
    struct qa_data data;
    EXPECT_FAIL(qa_data_read("/nonexistent/train.json", SIZE_MAX, &data), YOKE_ERR_NOT_FOUND,
                "train.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_layouts_read_alike),
        cmocka_unit_test(one_row_is_a_file),
        cmocka_unit_test(a_paragraph_shares_its_context),
        cmocka_unit_test(the_limit_keeps_the_first),
        cmocka_unit_test(impossible_questions_have_no_answer),
        cmocka_unit_test(places_count_code_points),
        cmocka_unit_test(misplaced_answers_are_located),
        cmocka_unit_test(broken_rows_are_named),
        cmocka_unit_test(broken_files_are_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
