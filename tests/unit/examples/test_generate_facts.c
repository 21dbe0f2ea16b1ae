/* The two splits of the generated facts share no name, no answer and no sentence pattern; answers
 * stand where answer_start says; the same arguments give the same bytes. The program is run as
 * `make demo` runs it, from the build folder above this test. */
#define _GNU_SOURCE
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

enum { MAX_LINES = 60000, MAX_COMMAND = 8192 };

struct lines {
    char *text;
    char **line;
    size_t n;
};

static FILE *run_generator(const char *arguments)
{
    char here[4096];
    const ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);
    assert_true(n > 0);
    here[n] = '\0';
    *strrchr(here, '/') = '\0';
    char command[MAX_COMMAND];
    snprintf(command, sizeof(command), "'%s/../generate_facts' %s", here, arguments);
    FILE *const pipe = popen(command, "r");
    assert_non_null(pipe);
    return pipe;
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Reads all lines in lower case, as the model sees them, and sorts them. */
static struct lines read_sorted(const char *arguments)
{
    struct lines lines = {NULL, test_malloc(MAX_LINES * sizeof(char *)), 0};
    const size_t room = (size_t)MAX_LINES * 64;
    lines.text = test_malloc(room);
    FILE *const pipe = run_generator(arguments);
    const size_t n = fread(lines.text, 1, room - 1, pipe);
    assert_int_equal(pclose(pipe), 0);
    lines.text[n] = '\0';
    for (char *c = lines.text; *c != '\0'; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    char *rest = NULL;
    for (char *line = strtok_r(lines.text, "\n", &rest); line != NULL && lines.n < MAX_LINES;
         line = strtok_r(NULL, "\n", &rest)) {
        lines.line[lines.n++] = line;
    }
    qsort(lines.line, lines.n, sizeof(char *), compare_lines);
    return lines;
}

static void free_lines(struct lines *lines)
{
    test_free(lines->text);
    test_free(lines->line);
}

static void expect_disjoint(const char *what, size_t least)
{
    char arguments[256];
    snprintf(arguments, sizeof(arguments), "--split train --paragraphs 5000 --seed 1 --list %s",
             what);
    struct lines train = read_sorted(arguments);
    snprintf(arguments, sizeof(arguments), "--split heldout --paragraphs 500 --seed 1 --list %s",
             what);
    struct lines heldout = read_sorted(arguments);
    assert_true(train.n >= least && heldout.n >= least);
    for (size_t i = 0; i < heldout.n; i++) {
        const char *const key = heldout.line[i];
        if (bsearch(&key, train.line, train.n, sizeof(char *), compare_lines) != NULL) {
            fail_msg("in both splits: %s", key);
        }
    }
    free_lines(&train);
    free_lines(&heldout);
}

static void names_are_disjoint(void **state)
{
    (void)state;
    expect_disjoint("names", 1000);
}

static void answers_are_disjoint(void **state)
{
    (void)state;
    expect_disjoint("answers", 1000);
}

static void patterns_are_disjoint(void **state)
{
    (void)state;
    expect_disjoint("patterns", 1000);
}

/* How many whole numbers of this many digits stand in the text. */
static int count_numbers(const char *text, size_t n_digits)
{
    int n = 0;
    while (*text != '\0') {
        const size_t run = strspn(text, "0123456789");
        n += run == n_digits;
        text += run > 0 ? run : 1;
    }
    return n;
}

/* Where the answer is a year or a count, the paragraph has one for each of its three subjects: the
 * kind of the answer alone tells nobody which one is asked for. */
static void several_facts_of_one_kind(void **state)
{
    (void)state;
    FILE *const pipe = run_generator("--split heldout --paragraphs 400 --seed 3 --questions 3 "
                                     "--output /dev/stdout");
    json_t *const root = json_loadf(pipe, 0, NULL);
    assert_int_equal(pclose(pipe), 0);
    json_t *const data = json_array_get(json_object_get(root, "data"), 0);
    size_t i = 0;
    int n_checked = 0;
    json_t *paragraph = NULL;
    json_array_foreach(json_object_get(data, "paragraphs"), i, paragraph)
    {
        const char *const context = json_string_value(json_object_get(paragraph, "context"));
        size_t j = 0;
        json_t *question = NULL;
        json_array_foreach(json_object_get(paragraph, "qas"), j, question)
        {
            json_t *const answer = json_array_get(json_object_get(question, "answers"), 0);
            const char *const text = json_string_value(json_object_get(answer, "text"));
            if (isdigit((unsigned char)text[0])) {
                assert_int_equal(count_numbers(context, strlen(text)), 3);
                n_checked++;
            }
        }
    }
    assert_true(n_checked > 100);
    json_decref(root);
}

/* Every answer of a split, and how many answers the paragraphs have at least. */
static void check_answers(const char *split)
{
    char arguments[256];
    snprintf(arguments, sizeof(arguments),
             "--split %s --paragraphs 400 --seed 3 --questions 3 --output /dev/stdout", split);
    FILE *const pipe = run_generator(arguments);
    json_t *const root = json_loadf(pipe, 0, NULL);
    assert_int_equal(pclose(pipe), 0);
    assert_non_null(root);
    json_t *const data = json_array_get(json_object_get(root, "data"), 0);
    json_t *const paragraphs = json_object_get(data, "paragraphs");
    assert_int_equal(json_array_size(paragraphs), 400);

    size_t i = 0;
    json_t *paragraph = NULL;
    json_array_foreach(paragraphs, i, paragraph)
    {
        const char *const context = json_string_value(json_object_get(paragraph, "context"));
        json_t *const questions = json_object_get(paragraph, "qas");
        assert_int_equal(json_array_size(questions), 3);
        size_t j = 0;
        json_t *question = NULL;
        json_array_foreach(questions, j, question)
        {
            json_t *const answer = json_array_get(json_object_get(question, "answers"), 0);
            const char *const text = json_string_value(json_object_get(answer, "text"));
            const size_t start =
                (size_t)json_integer_value(json_object_get(answer, "answer_start"));
            assert_true(strlen(text) > 0 && start + strlen(text) <= strlen(context));
            assert_memory_equal(context + start, text, strlen(text));
        }
    }
    json_decref(root);
}

static void answers_stand_where_they_say(void **state)
{
    (void)state;
    check_answers("train");
    check_answers("heldout");
}

static void same_seed_gives_same_bytes(void **state)
{
    (void)state;
    static char first[65536];
    static char second[65536];
    const char *const arguments = "--split heldout --paragraphs 50 --seed 7 --output /dev/stdout";
    FILE *pipe = run_generator(arguments);
    const size_t n = fread(first, 1, sizeof(first), pipe);
    assert_int_equal(pclose(pipe), 0);
    pipe = run_generator(arguments);
    assert_int_equal(fread(second, 1, sizeof(second), pipe), n);
    assert_int_equal(pclose(pipe), 0);
    assert_memory_equal(first, second, n);
    assert_true(n > 10000 && n < sizeof(first));
}

static void bad_arguments_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "--split other --paragraphs 5 --seed 1 --output /dev/null 2>/dev/null",
        "--split train --paragraphs 0 --seed 1 --output /dev/null 2>/dev/null",
        "--split train --paragraphs 5x --seed 1 --output /dev/null 2>/dev/null",
        "--split train --paragraphs 5 --seed 1 2>/dev/null",
        "--split train --paragraphs 5 --seed 1 --output 2>/dev/null",
        "--split train --paragraphs 5 --seed 1 --output /no/such/folder/x 2>/dev/null",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_not_equal(pclose(run_generator(bad[i])), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_disjoint),
        cmocka_unit_test(answers_are_disjoint),
        cmocka_unit_test(patterns_are_disjoint),
        cmocka_unit_test(several_facts_of_one_kind),
        cmocka_unit_test(answers_stand_where_they_say),
        cmocka_unit_test(same_seed_gives_same_bytes),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
