/* Status, memory, arenas, strings. */
#include "support.h"

#include "base/core/arena.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"

static void messages_are_one_line(void **state)
{
    (void)state;
    assert_int_equal(yoke_fail(YOKE_ERR_IO, "a\nb\033[1m %s", "é"), YOKE_ERR_IO);
    assert_string_equal(yoke_last_error(), "a?b?[1m é");
    assert_int_equal(yoke_fail_prefix(YOKE_ERR_IO, "file %d", 7), YOKE_ERR_IO);
    assert_string_equal(yoke_last_error(), "file 7: a?b?[1m é");
    assert_int_equal(yoke_fail_prefix(YOKE_OK, "unused"), YOKE_OK);
    assert_string_equal(yoke_last_error(), "file 7: a?b?[1m é");
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)yoke_fail(YOKE_ERR_IO, "%s", text);
    assert_int_equal(strlen(yoke_last_error()), 1023);
    (void)yoke_fail_prefix(YOKE_ERR_IO, "%s", text);
    assert_int_equal(strlen(yoke_last_error()), 1023);
}

static void statuses_have_texts_and_codes(void **state)
{
    (void)state;
    assert_string_equal(yoke_status_text(YOKE_ERR_PEER_LOST), "a peer was lost");
    assert_int_equal(yoke_status_exit_code(YOKE_OK), 0);
    assert_int_equal(yoke_status_exit_code(YOKE_ERR_NUMERIC), 16);
    assert_string_equal(yoke_status_text((yoke_status)-99), "unknown status");
    assert_int_equal(yoke_status_exit_code((yoke_status)-99), 1);
}

static void memory_is_zeroed_checked_and_counted(void **state)
{
    (void)state;
    const uint64_t before = mem_allocations();
    uint64_t *block = NULL;
    EXPECT_OK(MEM_NEW(block, 1000));
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(block[i], 0);
    }
    mem_free(block);
    assert_int_equal(mem_allocations(), before + 1);
    assert_null(mem_calloc(SIZE_MAX / 2, 16));
    assert_non_null(strstr(yoke_last_error(), "no memory"));
    assert_null(mem_realloc(NULL, SIZE_MAX / 2, 16));
}

static void growing_keeps_the_contents(void **state)
{
    (void)state;
    int *numbers = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        EXPECT_OK(MEM_GROW(numbers, capacity, (size_t)i + 1));
        numbers[i] = i;
    }
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(numbers[i], i);
    }
    mem_free(numbers);
}

static void big_blocks_are_aligned(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 64, 100, (2 << 20) - 1, 2 << 20, (2 << 20) + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *block = mem_big(sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        for (size_t j = 0; j < sizes[i]; j++) {
            assert_int_equal(block[j], 0);
        }
        mem_free_big(block, sizes[i]);
    }
    assert_null(mem_big(SIZE_MAX - 5));
}

static void a_log_line_stays_one_line(void **state)
{
    (void)state;
    char text[256];
    int ends[2];
    const int old = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    log_warning("weights a\nb\033[1m é");
    dup2(old, STDERR_FILENO);
    const ssize_t n = read(ends[0], text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = '\0';
    assert_non_null(strstr(text, ">> weights a?b?[1m é\n"));
    assert_true(strchr(text, '\n') == text + n - 1);
    close(old);
    close(ends[0]);
    close(ends[1]);
}

static void arenas_hand_out_what_they_have(void **state)
{
    (void)state;
    struct arena arena;
    EXPECT_OK(arena_init(&arena, 2 * arena_need(100)));
    unsigned char *a = arena_push(&arena, 100);
    unsigned char *b = arena_push(&arena, 100);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal((uintptr_t)a % 64, 0);
    assert_true(b >= a + 100);
    memset(a, 1, 100);
    memset(b, 2, 100);
    assert_int_equal(a[99], 1);
    assert_null(arena_push(&arena, 1));
    assert_non_null(strstr(yoke_last_error(), "arena too small"));
    assert_int_equal(arena.used_bytes, arena.size_bytes);
    assert_null(arena_push(&arena, SIZE_MAX));
    arena_fini(&arena);
}

static void strings_grow(void **state)
{
    (void)state;
    struct str str = {0};
    assert_string_equal(str_text(&str), "");
    for (int i = 0; i < 100; i++) {
        EXPECT_OK(str_printf(&str, "%d,", i));
    }
    EXPECT_OK(str_append(&str, "xyz", 2));
    assert_int_equal(str.len, 290 + 2);
    assert_true(str_ends_with(str.text, "99,xy"));
    assert_false(str_ends_with("y", "xy"));
    str_clear(&str);
    assert_string_equal(str_text(&str), "");
    str_fini(&str);
    char *path = str_path("a/", "b");
    assert_string_equal(path, "a/b");
    mem_free(path);
    path = str_path("a", "b");
    assert_string_equal(path, "a/b");
    mem_free(path);
    path = str_path("", "b");
    assert_string_equal(path, "b");
    mem_free(path);
}

static void numbers_are_whole_texts(void **state)
{
    (void)state;
    int64_t n = 7;
    double x = 7;
    assert_true(str_to_int64("-12", &n));
    assert_int_equal(n, -12);
    const char *const no_int[] = {"", " 1", "1 ", "1.0", "x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof no_int / sizeof *no_int; i++) {
        assert_false(str_to_int64(no_int[i], &n));
    }
    assert_true(str_to_double("5e-5", &x));
    assert_true(x == 5e-5);
    const char *const no_double[] = {"", " 1", "1x", "nan", "inf", "1e999", "-"};
    for (size_t i = 0; i < sizeof no_double / sizeof *no_double; i++) {
        assert_false(str_to_double(no_double[i], &x));
    }
}

static void distances_count_edits(void **state)
{
    (void)state;
    assert_int_equal(str_distance("", ""), 0);
    assert_int_equal(str_distance("kitten", "sitting"), 3);
    assert_int_equal(str_distance("ca", "ac"), 1);
    assert_int_equal(str_distance("", "abc"), 3);
    char text[100];
    memset(text, 'a', 99);
    text[99] = '\0';
    assert_true(str_distance(text, "a") > 63);
}

static void thousands_have_commas(void **state)
{
    (void)state;
    char text[32];
    assert_string_equal(str_thousands(0, text), "0");
    assert_string_equal(str_thousands(999, text), "999");
    assert_string_equal(str_thousands(88524, text), "88,524");
    assert_string_equal(str_thousands(-1234567, text), "-1,234,567");
    assert_string_equal(str_thousands(INT64_MIN, text), "-9,223,372,036,854,775,808");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_one_line),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(statuses_have_texts_and_codes),
        cmocka_unit_test(memory_is_zeroed_checked_and_counted),
        cmocka_unit_test(growing_keeps_the_contents),
        cmocka_unit_test(big_blocks_are_aligned),
        cmocka_unit_test(a_log_line_stays_one_line),
        cmocka_unit_test(arenas_hand_out_what_they_have),
        cmocka_unit_test(strings_grow),
        cmocka_unit_test(numbers_are_whole_texts),
        cmocka_unit_test(distances_count_edits),
        cmocka_unit_test(thousands_have_commas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
