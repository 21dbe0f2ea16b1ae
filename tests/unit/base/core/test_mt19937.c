/* torch's random stream: values drawn with torch itself. */
#include "support.h"

#include <math.h>

#include "base/core/mt19937.h"

static void raw_stream_is_the_standard_one(void **state)
{
    (void)state;
    struct mt19937 mt;
    mt19937_seed(&mt, 5489);
    uint32_t value = 0;
    for (int i = 0; i < 10000; i++) {
        value = mt19937_next(&mt);
    }
    assert_int_equal(value, 4123659995u); /* the C++ standard's check value, [rand.predef] */
}

static void expect_order(uint64_t seed, int64_t n, const int64_t *wanted, int n_wanted)
{
    int64_t order[4096];
    struct mt19937 mt;
    mt19937_seed(&mt, seed);
    mt19937_randperm(&mt, n, order);
    for (int i = 0; i < n_wanted; i++) {
        assert_int_equal(order[i], wanted[i]);
    }
}

static void permutations_are_torchs(void **state)
{
    (void)state;
    expect_order(42, 10, (int64_t[]){2, 6, 1, 8, 4, 5, 0, 9, 3, 7}, 10);
    expect_order(43, 10, (int64_t[]){8, 4, 9, 0, 5, 1, 6, 7, 2, 3}, 10);
    expect_order(0, 10, (int64_t[]){4, 1, 7, 5, 3, 9, 0, 8, 6, 2}, 10);
    expect_order(42, 3668, (int64_t[]){3130, 2085, 762, 3357, 2158, 3436, 256, 1426}, 8);
    expect_order(42, 1, (int64_t[]){0}, 1);
}

static void normals_are_torchs(void **state)
{
    (void)state;
    struct mt19937 mt;
    float x[1536];
    mt19937_seed(&mt, 42);
    mt19937_normal(&mt, x, 1536, 0.0, 0.02);
    double sum = 0.0;
    for (int i = 0; i < 1536; i++) {
        sum += x[i];
    }
    assert_true(fabsf(x[0] - 0.0385383032f) < 1e-7f);
    assert_true(fabsf(x[2] - 0.0180143435f) < 1e-7f);
    assert_true(fabsf(x[1535] - 0.02638015f) < 1e-7f);
    assert_true(fabs(sum - 0.12992496) < 1e-4);
    mt19937_seed(&mt, 42);
    mt19937_normal(&mt, x, 4, 0.0, 0.02);
    const float wanted[4] = {0.00673380727f, 0.00257618818f, 0.00468924735f, 0.00460666046f};
    for (int i = 0; i < 4; i++) {
        assert_true(fabsf(x[i] - wanted[i]) < 1e-9f);
    }
}

static void a_ragged_tail_is_drawn_again(void **state)
{
    (void)state;
    /* 20 elements: the first block from draws 0..15, then the last 16 from draws 20..35. */
    struct mt19937 a, b;
    float x[20], y[16];
    mt19937_seed(&a, 7);
    mt19937_normal(&a, x, 20, 0.0, 1.0);
    mt19937_seed(&b, 7);
    for (int i = 0; i < 20; i++) {
        (void)mt19937_next(&b);
    }
    mt19937_normal(&b, y, 16, 0.0, 1.0);
    for (int i = 0; i < 16; i++) {
        assert_true(x[4 + i] == y[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_stream_is_the_standard_one),
        cmocka_unit_test(permutations_are_torchs),
        cmocka_unit_test(normals_are_torchs),
        cmocka_unit_test(a_ragged_tail_is_drawn_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
