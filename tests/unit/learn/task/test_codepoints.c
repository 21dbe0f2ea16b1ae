/* The index against counting from the front. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/task/codepoints.h"

static void check_all(const char *text, size_t n_bytes, size_t n_wanted)
{
    struct codepoints index = {0};
    EXPECT_OK(codepoints_index(&index, text, n_bytes));
    assert_int_equal(index.n, n_wanted);
    assert_int_equal(codepoints_count(text, n_bytes), n_wanted);
    size_t i = 0;
    for (size_t byte = 0; byte < n_bytes; byte++) {
        if (((unsigned char)text[byte] & 0xc0) != 0x80) {
            assert_int_equal(codepoints_to_byte(&index, i), byte);
            i++;
        }
    }
    assert_int_equal(i, n_wanted);
    assert_int_equal(codepoints_to_byte(&index, n_wanted), n_bytes);
    assert_int_equal(codepoints_to_byte(&index, n_wanted + 100), n_bytes);
    codepoints_fini(&index);
}

static void places_are_found(void **state)
{
    (void)state;
    check_all("", 0, 0);
    check_all("plain", 5, 5);
    check_all("\xc3\xa4\xe2\x82\xac\xf0\x9f\x91\x8b!", 10, 4);
}

static void long_texts_are_found_through_marks(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x91\x8b"};
    char text[4000] = "";
    size_t n = 0;
    for (size_t i = 0; i < 1000; i++) {
        const char *piece = pieces[i * i % 7 % 4];
        memcpy(text + n, piece, strlen(piece));
        n += strlen(piece);
    }
    check_all(text, n, 1000);
    check_all(text, n - strlen(pieces[999 * 999 % 7 % 4]), 999);
}

static void malformed_bytes_count_as_the_tokenizer_counts(void **state)
{
    (void)state;
    /* A cut sequence of three is one maximal subpart, two stray continuation bytes are two. */
    assert_int_equal(codepoints_count("\xe2\x82", 2), 1);
    assert_int_equal(codepoints_count("\x82\x82", 2), 2);
    struct codepoints index = {0};
    EXPECT_OK(codepoints_index(&index, "\xe2\x82x", 3));
    assert_int_equal(codepoints_to_byte(&index, 1), 2);
    codepoints_fini(&index);
}

static void an_index_is_reused(void **state)
{
    (void)state;
    struct codepoints index = {0};
    EXPECT_OK(codepoints_index(&index, "\xc3\xa4z", 3));
    const uint64_t before = mem_allocations();
    EXPECT_OK(codepoints_index(&index, "z\xc3\xa4z", 4));
    assert_int_equal(mem_allocations(), before);
    assert_int_equal(codepoints_to_byte(&index, 2), 3);
    codepoints_fini(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_found),
        cmocka_unit_test(long_texts_are_found_through_marks),
        cmocka_unit_test(malformed_bytes_count_as_the_tokenizer_counts),
        cmocka_unit_test(an_index_is_reused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
