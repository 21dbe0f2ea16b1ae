/* The search for answers: order, ties, limits, and examples without any. */
#include "support.h"

#include <math.h>

#include "base/core/str.h"
#include "learn/task/qa_answer.h"

/* "[CLS] [SEP] c0 c1 ... [SEP]": context token k is the letter at code point k. */
enum { CONTEXT_BEGIN = 2, N_CONTEXT = 6, N_TOKENS = CONTEXT_BEGIN + N_CONTEXT + 1 };
static const uint32_t begins[N_TOKENS] = {0, 0, 0, 1, 2, 3, 4, 5, 0};
static const uint32_t ends[N_TOKENS] = {0, 0, 1, 2, 3, 4, 5, 6, 0};

static struct qa_answer gold = {.text = "the bc", .n_codepoints = 6};
static struct qa_example examples[] = {
    {.id = "one", .context = "abcdef", .context_bytes = 6, .answers = &gold, .n_answers = 1},
    {.id = "two", .context = "uvwxyz", .context_bytes = 6},
};
static const struct qa_data data = {.examples = examples, .n_examples = 2};

static struct qa_feature make_feature(uint32_t example)
{
    return (struct qa_feature){.example = example,
                               .n_tokens = N_TOKENS,
                               .context_begin = CONTEXT_BEGIN,
                               .context_end = CONTEXT_BEGIN + N_CONTEXT,
                               .offset_begins = begins,
                               .offset_ends = ends};
}

/* Windows of the examples given, answered with these logits. */
static yoke_status answer(const uint32_t *of, const float (*logits)[2 * N_TOKENS], size_t n,
                          size_t n_best, size_t max_length, struct qa_predictions *predictions)
{
    struct qa_feature array[4];
    const float *pointers[4];
    for (size_t i = 0; i < n; i++) {
        array[i] = make_feature(of[i]);
        pointers[i] = logits[i];
    }
    const struct qa_features features = {.features = array, .n_features = n};
    const struct qa_answer_options options = {.n_best_size = n_best,
                                              .max_answer_length = max_length};
    return qa_answer(&data, &features, pointers, &options, predictions);
}

static void expect_span(const struct qa_predictions *predictions, size_t example, size_t place,
                        uint32_t begin, uint32_t end)
{
    assert_true(place < predictions->predictions[example].n_candidates);
    const struct qa_candidate *candidate = &predictions->predictions[example].candidates[place];
    assert_false(candidate->is_empty);
    assert_int_equal(candidate->begin, begin);
    assert_int_equal(candidate->end, end);
}

static void the_highest_sum_wins(void **state)
{
    (void)state;
    float logits[2][2 * N_TOKENS] = {{0}};
    logits[0][2 * (CONTEXT_BEGIN + 1)] = 3.0f;
    logits[0][2 * (CONTEXT_BEGIN + 2) + 1] = 2.0f;
    logits[1][2 * (CONTEXT_BEGIN + 4)] = 4.0f;
    logits[1][2 * (CONTEXT_BEGIN + 5) + 1] = 2.5f;
    struct qa_predictions predictions;
    EXPECT_OK(answer((const uint32_t[]){0, 1}, logits, 2, 3, 30, &predictions));
    assert_int_equal(predictions.n_predictions, 2);
    expect_span(&predictions, 0, 0, 1, 3);
    expect_span(&predictions, 1, 0, 4, 6);
    const struct qa_prediction *first = &predictions.predictions[0];
    assert_int_equal(first->n_candidates, 3);
    assert_true(first->candidates[0].start_logit == 3.0f && first->candidates[0].end_logit == 2.0f);
    double sum = 0.0;
    for (size_t i = 0; i < 3; i++) {
        sum += first->candidates[i].probability;
    }
    assert_true(fabs(sum - 1.0) < 1e-12);
    assert_true(fabs(first->candidates[1].probability / first->candidates[0].probability -
                     exp(-2.0)) < 1e-12);
    struct qa_scores scores;
    EXPECT_OK(qa_score(&data, &predictions, &scores));
    assert_int_equal(scores.n_scored, 1); /* "two" has no gold answer */
    assert_true(scores.exact_match == 100.0 && scores.f1 == 100.0);
    qa_predictions_fini(&predictions);
}

static void equal_logits_come_from_behind(void **state)
{
    (void)state;
    float logits[1][2 * N_TOKENS] = {{0}};
    struct qa_predictions predictions;
    /* Both lists are: last [SEP], then context tokens 5, 4, 3. Starts before ends: (5,5), (4,5),
     * (4,4), ... */
    EXPECT_OK(answer((const uint32_t[]){0}, logits, 1, 4, 30, &predictions));
    static const uint32_t wanted[4][2] = {{5, 6}, {4, 6}, {4, 5}, {3, 6}};
    assert_int_equal(predictions.predictions[0].n_candidates, 4);
    for (size_t i = 0; i < 4; i++) {
        expect_span(&predictions, 0, i, wanted[i][0], wanted[i][1]);
    }
    qa_predictions_fini(&predictions);
}

static void places_outside_the_context_are_lost(void **state)
{
    (void)state;
    /* The two highest starts are [CLS] and [SEP]: nothing is left of a list of two. */
    float logits[1][2 * N_TOKENS] = {{[0] = 9.0f, [2] = 8.0f, [2 * 5] = 7.0f}};
    struct qa_predictions predictions;
    EXPECT_OK(answer((const uint32_t[]){0}, logits, 1, 2, 30, &predictions));
    assert_int_equal(predictions.predictions[0].n_candidates, 1);
    assert_true(predictions.predictions[0].candidates[0].is_empty);
    assert_true(predictions.predictions[0].candidates[0].probability == 1.0);
    qa_predictions_fini(&predictions);
    EXPECT_OK(answer((const uint32_t[]){0}, logits, 1, 3, 30, &predictions));
    expect_span(&predictions, 0, 0, 3, 6);
    qa_predictions_fini(&predictions);
}

static void long_answers_are_left_out(void **state)
{
    (void)state;
    float logits[1][2 * N_TOKENS] = {{0}};
    logits[0][2 * CONTEXT_BEGIN] = 5.0f;
    logits[0][2 * (CONTEXT_BEGIN + 3) + 1] = 5.0f;
    struct qa_predictions predictions;
    EXPECT_OK(answer((const uint32_t[]){0}, logits, 1, 20, 4, &predictions));
    expect_span(&predictions, 0, 0, 0, 4);
    qa_predictions_fini(&predictions);
    EXPECT_OK(answer((const uint32_t[]){0}, logits, 1, 20, 3, &predictions));
    for (size_t i = 0; i < predictions.predictions[0].n_candidates; i++) {
        const struct qa_candidate *candidate = &predictions.predictions[0].candidates[i];
        assert_in_range(candidate->end - candidate->begin, 1, 3);
    }
    qa_predictions_fini(&predictions);
}

static void windows_compete(void **state)
{
    (void)state;
    float logits[3][2 * N_TOKENS] = {{0}};
    logits[0][2 * (CONTEXT_BEGIN + 1)] =
        3.0f; /* as good as the second window's best: stays before it */
    logits[0][2 * (CONTEXT_BEGIN + 1) + 1] = 3.0f;
    logits[1][2 * (CONTEXT_BEGIN + 2)] = 4.0f;
    logits[1][2 * (CONTEXT_BEGIN + 2) + 1] = 2.0f;
    logits[2][2 * (CONTEXT_BEGIN + 3)] = 9.0f;
    logits[2][2 * (CONTEXT_BEGIN + 3) + 1] = 9.0f;
    struct qa_predictions predictions;
    EXPECT_OK(answer((const uint32_t[]){0, 0, 0}, logits, 3, 3, 1, &predictions));
    expect_span(&predictions, 0, 0, 3, 4);
    expect_span(&predictions, 0, 1, 1, 2);
    expect_span(&predictions, 0, 2, 2, 3);
    qa_predictions_fini(&predictions);
}

static void an_example_without_windows_answers_empty(void **state)
{
    (void)state;
    const float logits[1][2 * N_TOKENS] = {{0}};
    char folder[64], path[128];
    struct qa_predictions predictions;
    EXPECT_OK(answer((const uint32_t[]){0}, logits, 1, 1, 1, &predictions));
    const struct qa_candidate *candidate = &predictions.predictions[1].candidates[0];
    struct codepoints index = {0};
    struct str text = {0};
    EXPECT_OK(qa_candidate_text(&examples[1], candidate, &index, &text));
    assert_string_equal(str_text(&text), "empty");
    test_folder_make(folder);
    EXPECT_OK(qa_predictions_write(&data, &predictions, folder, "eval_"));
    snprintf(path, sizeof path, "%s/eval_predictions.json", folder);
    assert_true(file_exists(path));
    test_folder_remove(folder);
    EXPECT_FAIL(qa_predictions_write(&data, &predictions, folder, "eval_"), YOKE_ERR_IO,
                "eval_predictions.json");
    codepoints_fini(&index);
    str_fini(&text);
    qa_predictions_fini(&predictions);
}

static void logits_must_be_finite(void **state)
{
    (void)state;
    float logits[1][2 * N_TOKENS] = {{0}};
    struct qa_predictions predictions;
    logits[0][5] = NAN;
    EXPECT_FAIL(answer((const uint32_t[]){0}, logits, 1, 20, 30, &predictions), YOKE_ERR_NUMERIC,
                "question one");
    logits[0][5] = INFINITY;
    EXPECT_FAIL(answer((const uint32_t[]){1}, logits, 1, 20, 30, &predictions), YOKE_ERR_NUMERIC,
                "question two");
}

static void huge_lists_cost_no_memory(void **state)
{
    (void)state;
    const float logits[1][2 * N_TOKENS] = {{0}};
    struct qa_predictions predictions;
    EXPECT_OK(answer((const uint32_t[]){0}, logits, 1, SIZE_MAX, SIZE_MAX, &predictions));
    assert_int_equal(predictions.predictions[0].n_candidates, N_CONTEXT * (N_CONTEXT + 1) / 2);
    qa_predictions_fini(&predictions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_highest_sum_wins),
        cmocka_unit_test(equal_logits_come_from_behind),
        cmocka_unit_test(places_outside_the_context_are_lost),
        cmocka_unit_test(long_answers_are_left_out),
        cmocka_unit_test(windows_compete),
        cmocka_unit_test(an_example_without_windows_answers_empty),
        cmocka_unit_test(logits_must_be_finite),
        cmocka_unit_test(huge_lists_cost_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
