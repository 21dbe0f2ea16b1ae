/* Windows and labels at their edges; the bulk is test_qa_golden.c's. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/task/qa_features.h"

static char folder[64];
static struct tokenizer *tokenizer;

/* One letter is one token: ids are easy to tell and windows to count. */
static int open_tokenizer(void **state)
{
    (void)state;
    char path[80];
    char vocab[256] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (char c = 'a'; c <= 'z'; c++) {
        snprintf(vocab + strlen(vocab), sizeof vocab - strlen(vocab), "%c\n##%c\n", c, c);
    }
    test_folder_make(folder);
    snprintf(path, sizeof path, "%s/vocab.txt", folder);
    EXPECT_OK(file_write_all(path, vocab, strlen(vocab)));
    EXPECT_OK(tokenizer_create(folder, &tokenizer));
    return 0;
}

static int close_tokenizer(void **state)
{
    (void)state;
    tokenizer_destroy(tokenizer);
    test_folder_remove(folder);
    return 0;
}

static struct qa_example make_example(const char *question, const char *context,
                                      struct qa_answer *answer)
{
    return (struct qa_example){.id = "q1",
                               .question = question,
                               .context = context,
                               .question_bytes = strlen(question),
                               .context_bytes = strlen(context),
                               .answers = answer,
                               .n_answers = answer ? 1 : 0};
}

static yoke_status build(struct qa_example *examples, size_t n, size_t max_seq_length,
                         size_t doc_stride, bool labels, struct qa_features *features)
{
    const struct qa_data data = {.examples = examples, .n_examples = n};
    const struct qa_feature_options options = {.max_seq_length = max_seq_length,
                                               .doc_stride = doc_stride,
                                               .labels = labels,
                                               .n_threads = 2};
    return qa_features_build(&data, tokenizer, &options, features);
}

static void windows_follow_the_classic_formula(void **state)
{
    (void)state;
    /* 20 tokens, room 7, stride 3: starts 0, 4, 8, 12 and 16. */
    struct qa_example example =
        make_example("a b", "a b c d e f g h i j k l m n o p q r s t", NULL);
    struct qa_features features;
    EXPECT_OK(build(&example, 1, 12, 3, false, &features));
    assert_int_equal(features.n_features, 5);
    assert_int_equal(features.n_clamped, 0);
    for (uint32_t i = 0; i < 5; i++) {
        const struct qa_feature *f = &features.features[i];
        assert_int_equal(f->n_tokens, i < 4 ? 12 : 9);
        assert_int_equal(f->context_begin, 4);
        assert_int_equal(f->context_end, f->n_tokens - 1);
        assert_int_equal(f->ids[0], tokenizer_cls_id(tokenizer));
        assert_int_equal(f->ids[3], tokenizer_sep_id(tokenizer));
        assert_int_equal(f->ids[f->n_tokens - 1], tokenizer_sep_id(tokenizer));
        assert_int_equal(f->types[3], 0);
        assert_int_equal(f->types[4], 1);
        assert_int_equal(f->types[f->n_tokens - 1], 1);
        assert_int_equal(tokenizer_token(tokenizer, f->ids[4])[0], 'a' + 4 * i);
        assert_int_equal(f->offset_begins[4], 8 * i);
        assert_int_equal(f->offset_ends[4], 8 * i + 1);
    }
    qa_features_fini(&features);
}

static void a_stride_that_does_not_fit_is_clamped(void **state)
{
    (void)state;
    struct qa_example examples[] = {
        make_example("a b c d e", "a b c d e f", NULL),
        make_example("a b c d e", "a b", NULL), /* one window: no matter */
        make_example("a", "a b c d e f", NULL)};
    struct qa_features features;
    EXPECT_OK(build(examples, 3, 10, 4, false, &features));
    assert_int_equal(features.n_clamped, 1);
    assert_int_equal(features.n_features, 5 + 1 + 1);
    for (uint32_t i = 0; i < 5; i++) { /* room 2, stride 1 */
        assert_int_equal(features.features[i].offset_begins[7], 2 * i);
    }
    qa_features_fini(&features);
}

static void a_question_without_room_is_an_error(void **state)
{
    (void)state;
    struct qa_example examples[] = {make_example("a b c d e f", "a", NULL),
                                    make_example("a b c d e f g", "a", NULL)};
    struct qa_features features = {0};
    examples[1].id = "q2";
    EXPECT_OK(build(examples, 1, 10, 0, false, &features));
    assert_int_equal(features.features[0].n_tokens, 10);
    qa_features_fini(&features);
    EXPECT_FAIL(build(examples, 2, 10, 0, false, &features), YOKE_ERR_INVALID,
                "question q2: the question has 7 tokens");
    assert_null(features.features);
}

static void the_first_failure_is_told(void **state)
{
    (void)state;
    enum { N = 200 };
    static struct qa_example examples[N];
    static char ids[N][8], contexts[N][16];
    for (size_t i = 0; i < N; i++) {
        snprintf(ids[i], sizeof ids[i], "q%zu", i);
        snprintf(contexts[i], sizeof contexts[i], "a %zu", i);
        examples[i] = make_example(i == 120 || i == 121 || i == 199 ? "a b c d e f g" : "a",
                                   contexts[i], NULL);
        examples[i].id = ids[i];
    }
    for (int round = 0; round < 20; round++) {
        struct qa_features features;
        EXPECT_FAIL(build(examples, N, 10, 0, false, &features), YOKE_ERR_INVALID,
                    "question q120:");
    }
}

static void unanswerable_questions_are_not_trained_on(void **state)
{
    (void)state;
    struct qa_answer nothing = {.text = "", .start = 0, .n_codepoints = 0};
    struct qa_example none = make_example("a", "b", NULL);
    struct qa_example empty = make_example("a", "b", &nothing);
    struct qa_features features;
    EXPECT_FAIL(build(&none, 1, 10, 0, true, &features), YOKE_ERR_UNSUPPORTED,
                "--version_2_with_negative");
    EXPECT_FAIL(build(&empty, 1, 10, 0, true, &features), YOKE_ERR_UNSUPPORTED, "question q1");
    EXPECT_OK(build(&none, 1, 10, 0, false, &features));
    assert_int_equal(features.n_features, 1);
    qa_features_fini(&features);
}

static void expect_labels(const char *context, uint32_t begin, uint32_t n,
                          const uint32_t (*wanted)[2], size_t n_windows)
{
    struct qa_answer answer = {.text = "-", .start = begin, .n_codepoints = n};
    struct qa_example example = make_example("a", context, &answer);
    struct qa_features features;
    EXPECT_OK(build(&example, 1, 8, 2, true, &features)); /* room 4, windows every 2 */
    assert_int_equal(features.n_features, n_windows);
    for (size_t i = 0; i < n_windows; i++) {
        assert_int_equal(features.features[i].start, wanted[i][0]);
        assert_int_equal(features.features[i].end, wanted[i][1]);
    }
    qa_features_fini(&features);
}

static void labels_enclose_the_answer(void **state)
{
    (void)state;
    /* Windows: a b c d, c d e f, e f g h; the context begins at token 3. */
    const char *letters = "a b c d e f g h";
    expect_labels(letters, 0, 1, (const uint32_t[][2]){{3, 3}, {0, 0}, {0, 0}}, 3);
    expect_labels(letters, 4, 3, (const uint32_t[][2]){{5, 6}, {3, 4}, {0, 0}}, 3);
    expect_labels(letters, 2, 7, (const uint32_t[][2]){{0, 0}, {0, 0}, {0, 0}}, 3);
    /* The last token of a window: the search for the start ends with it. */
    expect_labels(letters, 14, 1, (const uint32_t[][2]){{0, 0}, {0, 0}, {6, 6}}, 3);
    expect_labels(letters, 6, 1, (const uint32_t[][2]){{6, 6}, {4, 4}, {0, 0}}, 3);
    /* A blank before the answer belongs to the token before it. */
    expect_labels("ab cd", 2, 3, (const uint32_t[][2]){{4, 6}}, 1);
    /* Part of a word: the pieces that enclose it. */
    expect_labels("x abc", 3, 1, (const uint32_t[][2]){{5, 5}}, 1);
    /* All of the answer was deleted. */
    expect_labels("\xe2\x80\x8b", 0, 1, (const uint32_t[][2]){{0, 0}}, 1);
}

static void empty_contexts_give_one_window(void **state)
{
    (void)state;
    struct qa_example examples[] = {make_example("a", "", NULL), make_example("", "  ", NULL)};
    struct qa_features features;
    EXPECT_OK(build(examples, 2, 8, 2, false, &features));
    assert_int_equal(features.n_features, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(features.features[i].context_begin, features.features[i].context_end);
    }
    assert_int_equal(features.features[0].n_tokens, 4);
    assert_int_equal(features.features[1].n_tokens, 3);
    qa_features_fini(&features);
}

static void many_questions_share_one_long_context(void **state)
{
    (void)state;
    enum { N = 300, N_LETTERS = 2000 };
    static char context[2 * N_LETTERS + 1];
    static struct qa_example examples[N];
    for (size_t i = 0; i < N_LETTERS; i++) {
        context[2 * i] = (char)('a' + i % 26);
        context[2 * i + 1] = ' ';
    }
    for (size_t i = 0; i < N; i++) {
        examples[i] = make_example("a b c", context, NULL);
    }
    struct qa_features features;
    EXPECT_OK(build(examples, N, 106, 50, false, &features)); /* room 100: 39 windows */
    assert_int_equal(features.n_features, N * 39);
    for (size_t i = 0; i < features.n_features; i++) {
        const struct qa_feature *f = &features.features[i];
        assert_int_equal(f->example, i / 39);
        assert_int_equal(f->offset_begins[f->context_begin], i % 39 * 100);
        assert_int_equal(f->offset_ends[f->context_end - 1], i % 39 * 100 + 199);
    }
    qa_features_fini(&features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_follow_the_classic_formula),
        cmocka_unit_test(a_stride_that_does_not_fit_is_clamped),
        cmocka_unit_test(a_question_without_room_is_an_error),
        cmocka_unit_test(the_first_failure_is_told),
        cmocka_unit_test(unanswerable_questions_are_not_trained_on),
        cmocka_unit_test(labels_enclose_the_answer),
        cmocka_unit_test(empty_contexts_give_one_window),
        cmocka_unit_test(many_questions_share_one_long_context),
    };
    return cmocka_run_group_tests(tests, open_tokenizer, close_tokenizer);
}
