/* Samples of what Python 3.11 says. */
#include "support.h"

#include "learn/text/pystr.h"

static void spaces(void **state)
{
    (void)state;
    static const uint32_t yes[] = {' ',  '\t', '\n',   0x0b,   0x1c,  0x1f,
                                   0x85, 0xa0, 0x2028, 0x202f, 0x3000};
    static const uint32_t no[] = {'a', '_', 0, 0x1b, 0x180e, 0x200b, 0x2060, 0xfeff};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        assert_true(pystr_is_space(yes[i]));
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        assert_false(pystr_is_space(no[i]));
    }
}

static void word_characters(void **state)
{
    (void)state;
    static const uint32_t yes[] = {'a',    'Z',    '0',    '_',    0xe4, 0xb2,
                                   0x2160, 0x2460, 0x4e1c, 0x0663, 0x2b0};
    static const uint32_t no[] = {'-', ' ', 0x301, 0x93f, 0x200d, 0x203f, 0x20ac, 0x24b6, 0x1f44b};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        assert_true(pystr_is_word(yes[i]));
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        assert_false(pystr_is_word(no[i]));
    }
}

static void expect_lower(const uint32_t *codes, size_t n, size_t i, uint32_t wanted)
{
    uint32_t lower[2];
    assert_int_equal(pystr_lower(codes, n, i, lower), 1);
    assert_int_equal(lower[0], wanted);
}

static void lower_case(void **state)
{
    (void)state;
    static const uint32_t letters[] = {'A', 'z', 0xc4, 0x1e9e, 0x2126, 0x10a0, 0x24b6};
    static const uint32_t lowered[] = {'a', 'z', 0xe4, 0xdf, 0x3c9, 0x2d00, 0x24d0};
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        expect_lower(letters, sizeof letters / sizeof letters[0], i, lowered[i]);
    }
    uint32_t pair[2];
    assert_int_equal(pystr_lower((const uint32_t[]){0x130}, 1, 0, pair), 2);
    assert_int_equal(pair[0], 'i');
    assert_int_equal(pair[1], 0x307);
}

static void sigma_looks_at_its_neighbours(void **state)
{
    (void)state;
    enum { SIGMA = 0x3a3, MIDDLE = 0x3c3, FINAL = 0x3c2 };
    static const struct {
        uint32_t codes[4];
        size_t n, i;
        uint32_t wanted;
    } cases[] = {
        {{SIGMA}, 1, 0, MIDDLE},
        {{'A', SIGMA}, 2, 1, FINAL},
        {{'A', SIGMA, 'B'}, 3, 1, MIDDLE},
        {{'A', SIGMA, '.', 'B'}, 4, 1, MIDDLE}, /* a full stop inside a word is ignored */
        {{'A', SIGMA, '!', 'B'}, 4, 1, FINAL},  /* an exclamation mark ends it */
        {{'A', 0x301, SIGMA}, 3, 2, FINAL},     /* so are marks */
        {{'1', SIGMA}, 2, 1, MIDDLE},           /* digits have no case */
        {{0x2160, SIGMA}, 2, 1, FINAL},         /* Roman numerals have */
        {{0x2b0, SIGMA}, 2, 1, MIDDLE},         /* a modifier letter is ignored */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect_lower(cases[i].codes, cases[i].n, cases[i].i, cases[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces),
        cmocka_unit_test(word_characters),
        cmocka_unit_test(lower_case),
        cmocka_unit_test(sigma_looks_at_its_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
