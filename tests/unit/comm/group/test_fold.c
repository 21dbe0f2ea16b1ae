/* Reductions over arrays: order, aliasing, whole numbers that wrap. */
#include "support.h"

#include "comm/group/fold.h"

enum { COUNT = 1500 }; /* more than one block of every type, and no whole number of blocks */

static void sums_go_in_the_order_of_the_sources(void **state)
{
    (void)state;
    static float x[3][COUNT];
    static float out[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[0][i] = 1e8f;
        x[1][i] = (float)i;
        x[2][i] = -1e8f;
    }
    const void *const sources[] = {x[0], x[1], x[2]};
    fold_sources(YOKE_FLOAT32, YOKE_SUM, out, sources, 3, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_true(out[i] == (1e8f + (float)i) + -1e8f);
    }
}

static void the_output_may_be_any_source(void **state)
{
    (void)state;
    for (int alias = 0; alias < 3; alias++) {
        static double x[3][COUNT];
        for (int i = 0; i < COUNT; i++) {
            x[0][i] = i;
            x[1][i] = 2.0 * i;
            x[2][i] = 4.0 * i;
        }
        const void *const sources[] = {x[0], x[1], x[2]};
        fold_sources(YOKE_FLOAT64, YOKE_SUM, x[alias], sources, 3, COUNT);
        for (int i = 0; i < COUNT; i++) {
            assert_true(x[alias][i] == 7.0 * i);
        }
    }
}

static void extremes_and_wrapping(void **state)
{
    (void)state;
    const int64_t a[] = {INT64_MAX, -5, 3};
    const int64_t b[] = {1, -6, 9};
    const uint8_t c[] = {200, 1, 2};
    const uint8_t d[] = {100, 7, 0};
    const void *const wide[] = {a, b};
    const void *const narrow[] = {c, d};
    int64_t out[3];
    uint8_t small[3];
    fold_sources(YOKE_INT64, YOKE_SUM, out, wide, 2, 3);
    assert_true(out[0] == INT64_MIN && out[1] == -11 && out[2] == 12);
    fold_sources(YOKE_INT64, YOKE_MIN, out, wide, 2, 3);
    assert_true(out[0] == 1 && out[1] == -6 && out[2] == 3);
    fold_sources(YOKE_INT64, YOKE_MAX, out, wide, 2, 3);
    assert_true(out[0] == INT64_MAX && out[1] == -5 && out[2] == 9);
    fold_sources(YOKE_UINT8, YOKE_SUM, small, narrow, 2, 3);
    assert_true(small[0] == 44 && small[1] == 8 && small[2] == 2);
    fold_sources(YOKE_UINT8, YOKE_MAX, small, narrow, 2, 3);
    assert_true(small[0] == 200 && small[1] == 7 && small[2] == 2);
}

static void names_and_sizes(void **state)
{
    (void)state;
    assert_int_equal(fold_type_bytes(YOKE_FLOAT32), sizeof(float));
    assert_int_equal(fold_type_bytes(YOKE_FLOAT64), sizeof(double));
    assert_int_equal(fold_type_bytes(YOKE_INT64), 8);
    assert_int_equal(fold_type_bytes(YOKE_UINT8), 1);
    assert_int_equal(fold_type_bytes((yoke_datatype)4), 0);
    assert_int_equal(fold_type_bytes((yoke_datatype)-1), 0);
    assert_string_equal(fold_type_name(YOKE_INT64), "int64");
    assert_string_equal(fold_type_name((yoke_datatype)99), "unknown");
    assert_string_equal(fold_reduction_name(YOKE_MAX), "max");
    assert_string_equal(fold_reduction_name((yoke_reduction)3), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_go_in_the_order_of_the_sources),
        cmocka_unit_test(the_output_may_be_any_source),
        cmocka_unit_test(extremes_and_wrapping),
        cmocka_unit_test(names_and_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
