/* Features, answers and scores against files made with the reference (tests/golden/qa). */
#include "support.h"

#include <math.h>

#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/format/json.h"
#include "learn/task/qa_answer.h"

#define GOLDEN YOKE_TEST_DATA "/golden/qa"

struct configuration {
    const char *name;
    size_t max_seq_length, doc_stride, n_best_size, max_answer_length;
};

/* CONFIGURATIONS of make.py. */
static const struct configuration configurations[] = {
    {"long", 128, 32, 8, 30},
    {"short", 40, 8, 5, 4},
    {"tight", 34, 0, 3, 30},
};
enum { N_CONFIGURATIONS = sizeof configurations / sizeof configurations[0] };

static struct qa_data data;
static struct tokenizer *tokenizer;

static int open_data(void **state)
{
    (void)state;
    EXPECT_OK(qa_data_read(GOLDEN "/texts.json", SIZE_MAX, &data));
    EXPECT_OK(tokenizer_create(GOLDEN, &tokenizer));
    return 0;
}

static int close_data(void **state)
{
    (void)state;
    qa_data_fini(&data);
    tokenizer_destroy(tokenizer);
    return 0;
}

static void build(const struct configuration *c, int n_threads, struct qa_features *features)
{
    const struct qa_feature_options options = {.max_seq_length = c->max_seq_length,
                                               .doc_stride = c->doc_stride,
                                               .labels = true,
                                               .n_threads = n_threads};
    EXPECT_OK(qa_features_build(&data, tokenizer, &options, features));
}

static json_int_t integer_at(const json_t *array, size_t i)
{
    const json_t *value = json_array_get(array, i);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void expect_offset(const struct qa_feature *feature, uint32_t token, const json_t *wanted)
{
    const bool in_context = token >= feature->context_begin && token < feature->context_end;
    assert_int_equal(json_is_array(wanted), in_context);
    if (in_context) {
        assert_int_equal(feature->offset_begins[token], integer_at(wanted, 0));
        assert_int_equal(feature->offset_ends[token], integer_at(wanted, 1));
    }
}

static void expect_feature(const struct qa_feature *feature, const json_t *wanted)
{
    const json_t *ids = json_object_get(wanted, "input_ids");
    const json_t *types = json_object_get(wanted, "token_type_ids");
    const json_t *offsets = json_object_get(wanted, "offsets");
    assert_string_equal(data.examples[feature->example].id,
                        json_string_value(json_object_get(wanted, "example_id")));
    assert_int_equal(feature->n_tokens, json_array_size(ids));
    for (uint32_t i = 0; i < feature->n_tokens; i++) {
        assert_int_equal(feature->ids[i], integer_at(ids, i));
        assert_int_equal(feature->types[i], integer_at(types, i));
        expect_offset(feature, i, json_array_get(offsets, i));
    }
    assert_int_equal(feature->start,
                     json_integer_value(json_object_get(wanted, "start_positions")));
    assert_int_equal(feature->end, json_integer_value(json_object_get(wanted, "end_positions")));
}

static void features_are_the_references(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_CONFIGURATIONS; c++) {
        char path[256];
        snprintf(path, sizeof path, GOLDEN "/features_%s.jsonl", configurations[c].name);
        struct qa_features features;
        build(&configurations[c], 2, &features);
        struct file_map map;
        EXPECT_OK(file_map_open(path, &map));
        const char *line = (const char *)map.data;
        const char *end = line + map.size_bytes;
        size_t n = 0;
        for (; line < end; n++) {
            const char *next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
            json_t *wanted;
            EXPECT_OK(json_read_text(line, (size_t)(next - line), path, &wanted));
            assert_true(n < features.n_features);
            expect_feature(&features.features[n], wanted);
            json_decref(wanted);
            line = next;
        }
        assert_int_equal(n, features.n_features);
        file_map_close(&map);
        qa_features_fini(&features);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    struct qa_features one, four;
    build(&configurations[1], 1, &one);
    build(&configurations[1], 4, &four);
    assert_int_equal(one.n_features, four.n_features);
    for (size_t i = 0; i < one.n_features; i++) {
        const struct qa_feature *a = &one.features[i];
        const struct qa_feature *b = &four.features[i];
        assert_int_equal(a->example, b->example);
        assert_int_equal(a->n_tokens, b->n_tokens);
        assert_memory_equal(a->ids, b->ids, a->n_tokens * sizeof *a->ids);
        assert_int_equal(a->start, b->start);
    }
    qa_features_fini(&one);
    qa_features_fini(&four);
}

/* golden_logits() of make.py. */
static float golden_logit(const struct qa_feature *feature, size_t index, uint32_t token,
                          uint32_t column)
{
    const uint32_t seed = (uint32_t)(index * 8191 + column * 131 + token * 31);
    const float level = ((float)(seed * 2654435761u >> 26) - 32.0f) / 4.0f;
    const bool stands_out = index % 2 == 1 && token == (column ? feature->end : feature->start);
    return level + (stands_out ? 8.0f : 0.0f);
}

static float **make_logits(const struct qa_features *features)
{
    float **logits = mem_calloc(features->n_features, sizeof *logits);
    for (size_t i = 0; i < features->n_features; i++) {
        const struct qa_feature *feature = &features->features[i];
        logits[i] = mem_calloc(2 * feature->n_tokens, sizeof(float));
        for (uint32_t k = 0; k < 2 * feature->n_tokens; k++) {
            logits[i][k] = golden_logit(feature, i, k / 2, k % 2);
        }
    }
    return logits;
}

static void free_logits(float **logits, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mem_free(logits[i]);
    }
    mem_free(logits);
}

static void expect_same_bytes(const char *folder, const char *name)
{
    char ours[256], golden[256];
    snprintf(ours, sizeof ours, "%s/%s", folder, name);
    snprintf(golden, sizeof golden, GOLDEN "/%s", name);
    struct file_map a, b;
    EXPECT_OK(file_map_open(ours, &a));
    EXPECT_OK(file_map_open(golden, &b));
    assert_int_equal(a.size_bytes, b.size_bytes);
    assert_memory_equal(a.data, b.data, a.size_bytes);
    file_map_close(&a);
    file_map_close(&b);
}

/* The same keys in the same order with the same values, numbers to the precision of a float. */
static void expect_same_json(json_t *a, json_t *b)
{
    assert_int_equal(json_typeof(a), json_typeof(b));
    if (json_is_array(a)) {
        assert_int_equal(json_array_size(a), json_array_size(b));
        for (size_t i = 0; i < json_array_size(a); i++) {
            expect_same_json(json_array_get(a, i), json_array_get(b, i));
        }
    } else if (json_is_object(a)) {
        assert_int_equal(json_object_size(a), json_object_size(b));
        void *k = json_object_iter(b);
        for (void *i = json_object_iter(a); i; i = json_object_iter_next(a, i)) {
            assert_string_equal(json_object_iter_key(i), json_object_iter_key(k));
            expect_same_json(json_object_iter_value(i), json_object_iter_value(k));
            k = json_object_iter_next(b, k);
        }
    } else if (json_is_real(a)) {
        const double wanted = json_real_value(b);
        if (fabs(json_real_value(a) - wanted) > 2e-6 * fabs(wanted)) {
            fail_msg("%.9g instead of %.9g", json_real_value(a), wanted);
        }
    } else {
        assert_string_equal(json_string_value(a), json_string_value(b));
    }
}

static void expect_n_best(const char *folder, const char *name)
{
    char ours[256], golden[256];
    snprintf(ours, sizeof ours, "%s/%s_nbest_predictions.json", folder, name);
    snprintf(golden, sizeof golden, GOLDEN "/%s_nbest_predictions.json", name);
    json_t *a, *b;
    EXPECT_OK(json_read_file(ours, &a));
    EXPECT_OK(json_read_file(golden, &b));
    expect_same_json(a, b);
    /* Written as Python would: reading and printing gives the file again. */
    struct str printed = {0};
    struct file_map map;
    EXPECT_OK(json_print(&printed, a, 4, false));
    EXPECT_OK(file_map_open(ours, &map));
    assert_int_equal(map.size_bytes, printed.len + 1);
    assert_memory_equal(map.data, printed.text, printed.len);
    file_map_close(&map);
    str_fini(&printed);
    json_decref(a);
    json_decref(b);
}

static void expect_scores(const char *name, const struct qa_predictions *predictions)
{
    char path[256];
    snprintf(path, sizeof path, GOLDEN "/scores_%s.json", name);
    json_t *wanted;
    struct qa_scores scores;
    EXPECT_OK(json_read_file(path, &wanted));
    EXPECT_OK(qa_score(&data, predictions, &scores));
    assert_int_equal(scores.n_scored, data.n_examples);
    assert_true(scores.exact_match == json_real_value(json_object_get(wanted, "exact_match")));
    assert_true(scores.f1 == json_real_value(json_object_get(wanted, "f1")));
    json_decref(wanted);
}

static void answers_are_the_references(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_CONFIGURATIONS; c++) {
        char folder[64], prefix[32], name[64];
        struct qa_features features;
        struct qa_predictions predictions;
        build(&configurations[c], 2, &features);
        float **logits = make_logits(&features);
        const struct qa_answer_options options = {.n_best_size = configurations[c].n_best_size,
                                                  .max_answer_length =
                                                      configurations[c].max_answer_length};
        EXPECT_OK(
            qa_answer(&data, &features, (const float *const *)logits, &options, &predictions));
        test_folder_make(folder);
        snprintf(prefix, sizeof prefix, "%s_", configurations[c].name);
        EXPECT_OK(qa_predictions_write(&data, &predictions, folder, prefix));
        snprintf(name, sizeof name, "%spredictions.json", prefix);
        expect_same_bytes(folder, name);
        expect_n_best(folder, configurations[c].name);
        expect_scores(configurations[c].name, &predictions);
        test_folder_remove(folder);
        qa_predictions_fini(&predictions);
        free_logits(logits, features.n_features);
        qa_features_fini(&features);
    }
}

static void pairs_score_as_in_the_reference(void **state)
{
    (void)state;
    json_t *pairs;
    struct str normal = {0};
    EXPECT_OK(json_read_file(GOLDEN "/pairs.json", &pairs));
    assert_true(json_array_size(pairs) > 20);
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        const json_t *pair = json_array_get(pairs, i);
        const char *answer = json_string_value(json_array_get(pair, 0));
        double exact, f1;
        EXPECT_OK(qa_score_normalize(answer, &normal));
        assert_string_equal(str_text(&normal), json_string_value(json_array_get(pair, 2)));
        EXPECT_OK(qa_score_pair(answer, json_string_value(json_array_get(pair, 1)), &exact, &f1));
        if (exact != json_real_value(json_array_get(pair, 3)) ||
            f1 != json_real_value(json_array_get(pair, 4))) {
            fail_msg("pair %zu, '%s': exact %g, f1 %.17g", i, answer, exact, f1);
        }
    }
    str_fini(&normal);
    json_decref(pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(features_are_the_references),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(answers_are_the_references),
        cmocka_unit_test(pairs_score_as_in_the_reference),
    };
    return cmocka_run_group_tests(tests, open_data, close_data);
}
