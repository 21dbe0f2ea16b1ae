/* Tokens and offsets: against the reference's answers in tests/golden/tokenizer, and properties
 * that hold for every text. */
#include "support.h"

#include "base/core/memory.h"
#include "base/core/mt19937.h"
#include "base/core/str.h"
#include "learn/format/json.h"
#include "learn/text/tokenizer.h"
#include "learn/text/unicode.h"

#define GOLDEN YOKE_TEST_DATA "/golden/tokenizer"

static json_t *read_expected(const char *path)
{
    json_t *json;
    EXPECT_OK(json_read_file(path, &json));
    return json;
}

/* A tokenizer of the golden vocabulary with the given tokenizer_config.json. */
static struct tokenizer *open_golden(const json_t *config)
{
    char folder[64];
    struct tokenizer *tokenizer;
    char *vocab = str_path(test_folder_make(folder), "vocab.txt");
    char *settings = str_path(folder, "tokenizer_config.json");
    test_file_copy(GOLDEN "/vocab.txt", vocab);
    EXPECT_OK(json_write_file(settings, config, 2, false));
    EXPECT_OK(tokenizer_create(folder, &tokenizer));
    mem_free(vocab);
    mem_free(settings);
    test_folder_remove(folder);
    return tokenizer;
}

static struct tokenizer *open_default(void)
{
    json_t *config = json_object();
    struct tokenizer *tokenizer = open_golden(config);
    json_decref(config);
    return tokenizer;
}

static void check_numbers(const char *what, size_t group, size_t text, const uint32_t *found,
                          size_t n, const json_t *expected)
{
    if (json_array_size(expected) != n) {
        fail_msg("config %zu, text %zu: %zu tokens, expected %zu", group, text, n,
                 json_array_size(expected));
    }
    for (size_t i = 0; i < n; i++) {
        const json_int_t value = json_integer_value(json_array_get(expected, i));
        if (found[i] != value) {
            fail_msg("config %zu, text %zu: %s[%zu] is %u, expected %lld", group, text, what, i,
                     found[i], value);
        }
    }
}

static void check_group(const struct tokenizer *tokenizer, const json_t *expected, size_t group)
{
    struct token_list list = {0};
    const json_t *texts = json_object_get(expected, "texts");
    const json_t *results = json_array_get(json_object_get(expected, "results"), group);
    assert_true(json_array_size(texts) > 0);
    assert_int_equal(json_array_size(texts), json_array_size(results));
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i);
        const json_t *result = json_array_get(results, i);
        EXPECT_OK(
            tokenizer_encode(tokenizer, json_string_value(text), json_string_length(text), &list));
        check_numbers("ids", group, i, list.ids, list.n, json_array_get(result, 0));
        check_numbers("begins", group, i, list.begins, list.n, json_array_get(result, 1));
        check_numbers("ends", group, i, list.ends, list.n, json_array_get(result, 2));
    }
    token_list_fini(&list);
}

static void nasty_texts_equal_the_reference(void **state)
{
    (void)state;
    json_t *expected = read_expected(GOLDEN "/expected.json");
    const json_t *configs = json_object_get(expected, "configs");
    assert_int_equal(json_array_size(configs), 12);
    for (size_t i = 0; i < json_array_size(configs); i++) {
        struct tokenizer *tokenizer = open_golden(json_array_get(configs, i));
        check_group(tokenizer, expected, i);
        tokenizer_destroy(tokenizer);
    }
    json_decref(expected);
}

static void added_tokens_equal_the_reference(void **state)
{
    (void)state;
    struct tokenizer *tokenizer;
    EXPECT_OK(tokenizer_create(GOLDEN "/added", &tokenizer));
    json_t *expected = read_expected(GOLDEN "/added/expected.json");
    check_group(tokenizer, expected, 0);
    assert_int_equal(tokenizer_model_max_length(tokenizer), 384);
    json_decref(expected);
    tokenizer_destroy(tokenizer);
}

static void check_saved(const struct tokenizer *tokenizer, const json_t *expected, size_t group)
{
    char folder[64];
    struct tokenizer *again;
    EXPECT_OK(tokenizer_save(tokenizer, test_folder_make(folder)));
    EXPECT_OK(tokenizer_create(folder, &again));
    check_group(again, expected, group);
    assert_int_equal(tokenizer_vocab_size(again), tokenizer_vocab_size(tokenizer));
    assert_int_equal(tokenizer_model_max_length(again), tokenizer_model_max_length(tokenizer));
    tokenizer_destroy(again);
    char *json = str_path(folder, "tokenizer.json");
    assert_int_equal(unlink(json), 0); /* vocab.txt must say the same */
    mem_free(json);
    EXPECT_OK(tokenizer_create(folder, &again));
    check_group(again, expected, group);
    tokenizer_destroy(again);
    test_folder_remove(folder);
}

static void a_saved_tokenizer_is_the_same(void **state)
{
    (void)state;
    json_t *expected = read_expected(GOLDEN "/expected.json");
    const json_t *configs = json_object_get(expected, "configs");
    for (size_t i = 0; i < json_array_size(configs); i += 5) {
        struct tokenizer *tokenizer = open_golden(json_array_get(configs, i));
        check_saved(tokenizer, expected, i);
        tokenizer_destroy(tokenizer);
    }
    json_decref(expected);
    struct tokenizer *tokenizer;
    EXPECT_OK(tokenizer_create(GOLDEN "/added", &tokenizer));
    expected = read_expected(GOLDEN "/added/expected.json");
    check_saved(tokenizer, expected, 0);
    json_decref(expected);
    tokenizer_destroy(tokenizer);
}

static void a_megabyte_without_a_space_is_one_unknown_word(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    struct tokenizer *tokenizer = open_default();
    struct token_list list = {0};
    char *text = mem_calloc(N, 1);
    memset(text, 'x', N);
    EXPECT_OK(tokenizer_encode(tokenizer, text, N, &list));
    assert_int_equal(list.n, 1);
    assert_string_equal(tokenizer_token(tokenizer, list.ids[0]), "[UNK]");
    assert_int_equal(list.begins[0], 0);
    assert_int_equal(list.ends[0], N);
    /* A megabyte of one letter's accents: sorted, removed, and outside the letter's offsets. */
    text[0] = 'a';
    for (size_t i = 1; i + 1 < N; i += 2) {
        memcpy(text + i, i % 4 == 1 ? "\xcc\x81" : "\xcc\xa3", 2);
    }
    EXPECT_OK(tokenizer_encode(tokenizer, text, N - 1, &list));
    assert_int_equal(list.n, 1);
    assert_string_equal(tokenizer_token(tokenizer, list.ids[0]), "a");
    assert_int_equal(list.ends[0], 1);
    mem_free(text);
    token_list_fini(&list);
    tokenizer_destroy(tokenizer);
}

static void nul_and_malformed_bytes_vanish_but_count(void **state)
{
    (void)state;
    struct tokenizer *tokenizer = open_default();
    struct token_list list = {0};
    EXPECT_OK(tokenizer_encode(tokenizer, "\0un\0\xff\xe2\x82 ab", 10, &list));
    assert_int_equal(list.n, 2);
    assert_string_equal(tokenizer_token(tokenizer, list.ids[0]), "un");
    assert_int_equal(list.begins[0], 1);
    assert_int_equal(list.ends[0], 3);
    assert_int_equal(list.begins[1], 7);
    assert_int_equal(list.ends[1], 9);
    token_list_fini(&list);
    tokenizer_destroy(tokenizer);
}

/* A text of random code points out of ranges where something happens, as UTF-8. */
static size_t make_text(struct mt19937 *random, char *text, size_t *n_codes_out)
{
    static const uint32_t ranges[][2] = {
        {0x20, 0x7f},     {0, 0x30},        {0xc0, 0x250},      {0x300, 0x370},   {0x4e00, 0x4e10},
        {0xac00, 0xac20}, {0x2000, 0x2070}, {0x1f600, 0x1f610}, {0xe000, 0xe010}, {0x900, 0x970}};
    size_t n = 0;
    *n_codes_out = mt19937_next(random) % 200;
    for (size_t i = 0; i < *n_codes_out; i++) {
        const uint32_t *range = ranges[mt19937_next(random) % (sizeof ranges / sizeof *ranges)];
        n += unicode_encode(range[0] + mt19937_next(random) % (range[1] - range[0]), text + n);
    }
    return n;
}

/* For every text: offsets lie in it, are not empty, never go back and never overlap, unless two
 * tokens come from one decomposed character; the same text gives the same tokens again, without
 * allocation. */
static void offsets_are_ordered_and_inside(void **state)
{
    (void)state;
    struct tokenizer *tokenizer = open_default();
    struct token_list list = {0};
    struct mt19937 random;
    char text[1024];
    mt19937_seed(&random, 42);
    for (int round = 0; round < 3000; round++) {
        size_t n_codes;
        const size_t n = make_text(&random, text, &n_codes);
        EXPECT_OK(tokenizer_encode(tokenizer, text, n, &list));
        for (size_t i = 0; i < list.n; i++) {
            assert_true(list.begins[i] < list.ends[i] && list.ends[i] <= n_codes);
            assert_true(i == 0 || list.begins[i] + 1 >= list.ends[i - 1]);
            assert_true(i == 0 || list.begins[i] >= list.begins[i - 1]);
            assert_non_null(tokenizer_token(tokenizer, list.ids[i]));
        }
        const size_t n_tokens = list.n;
        const uint64_t before = mem_allocations();
        EXPECT_OK(tokenizer_encode(tokenizer, text, n, &list));
        assert_int_equal(mem_allocations(), before);
        assert_int_equal(list.n, n_tokens);
    }
    token_list_fini(&list);
    tokenizer_destroy(tokenizer);
}

/* The windows laid out one by one. */
static size_t count_windows(size_t n, size_t room, size_t stride)
{
    size_t windows = 1;
    for (size_t begin = 0; begin + room < n; begin += room - stride) {
        windows++;
    }
    return windows;
}

static void windows_cover_the_text(void **state)
{
    (void)state;
    struct mt19937 random;
    mt19937_seed(&random, 7);
    assert_int_equal(tokenizer_n_windows(20, 7, 3), 5);
    assert_int_equal(tokenizer_n_windows(0, 7, 3), 1);
    assert_int_equal(tokenizer_n_windows(7, 7, 6), 1);
    assert_int_equal(tokenizer_n_windows(8, 7, 6), 2);
    assert_int_equal(tokenizer_n_windows(3, 1, 0), 3);
    for (int i = 0; i < 20000; i++) {
        const size_t room = 1 + mt19937_next(&random) % 50;
        const size_t stride = mt19937_next(&random) % room;
        const size_t n = mt19937_next(&random) % 300;
        assert_int_equal(tokenizer_n_windows(n, room, stride), count_windows(n, room, stride));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nasty_texts_equal_the_reference),
        cmocka_unit_test(added_tokens_equal_the_reference),
        cmocka_unit_test(a_saved_tokenizer_is_the_same),
        cmocka_unit_test(a_megabyte_without_a_space_is_one_unknown_word),
        cmocka_unit_test(nul_and_malformed_bytes_vanish_but_count),
        cmocka_unit_test(offsets_are_ordered_and_inside),
        cmocka_unit_test(windows_cover_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
