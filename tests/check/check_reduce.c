/* Sums and sums of table rows: every level against plain C. */
#include "check_support.h"

static const size_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 63, 65, 127, 768, 1031};
enum { N_SIZES = sizeof sizes / sizeof *sizes, MAX_SIZE = 1031 };

static void sum_columns(const struct kernels *kernels, size_t n, size_t width, size_t shift,
                        float poison, float *sums_out)
{
    uint64_t seed = 7 * n + width;
    const size_t stride = width + shift;
    struct check_array x = check_array_make(n * stride, shift),
                       sums = check_array_make(width, shift);
    for (size_t i = 0; i < n; i++) {
        check_fill(x.data + i * stride, width, 1.0f,
                   &seed); /* what is between the rows stays guard */
    }
    x.data[(n - 1) * stride + width / 2] = poison;
    check_fill(sums.data, width, 1.0f, &seed);
    kernels->reduce.column_sums(n, width, stride, x.data, sums.data);
    memcpy(sums_out, sums.data, width * sizeof *sums_out);
    check_array_end(&x, "x");
    check_array_end(&sums, "sums");
}

/* Terms up to 1: rounding grows with the square root of their number, and not with a sum that
 * cancels. */
static void expect_sums(size_t n, size_t width, const float *got, const float *want)
{
    const double allowed = 1e-6 * sqrt((double)n);
    for (size_t i = 0; i < width; i++) {
        const double error = fabs((double)got[i] - (double)want[i]);
        if (isnan(want[i]) ? !isnan(got[i]) : !(error <= allowed || got[i] == want[i])) {
            fail_msg("column %zu of %zu, %zu rows: %.9g, wanted %.9g", i, width, n, (double)got[i],
                     (double)want[i]);
        }
    }
}

static void column_sums_agree(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    static const size_t rows[] = {1, 2, 7, 8, 9, 16, 61, 500};
    const float poisons[] = {0.5f, NAN, INFINITY};
    static float want[MAX_SIZE], got[MAX_SIZE];
    struct kernels ref, kernels;
    kernels_fill(&ref, ISA_REF);
    for (size_t level = 0; level < n_levels; level++) {
        kernels_fill(&kernels, levels[level]);
        for (size_t i = 0; i < N_SIZES * 8 * 3; i++) {
            const size_t n = rows[i / N_SIZES % 8], width = sizes[i % N_SIZES];
            sum_columns(&ref, n, width, 0, poisons[i / N_SIZES / 8], want);
            sum_columns(&kernels, n, width, 1 + i % 4, poisons[i / N_SIZES / 8], got);
            expect_sums(n, width, got, want);
        }
    }
}

static void sums_of_squares_agree(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    static const size_t lengths[] = {1, 15, 17, 511, 512, 1023, 1024, 1025, 40961};
    struct kernels ref, kernels;
    kernels_fill(&ref, ISA_REF);
    for (size_t i = 0; i < n_levels * 9; i++) {
        kernels_fill(&kernels, levels[i / 9]);
        const size_t n = lengths[i % 9];
        uint64_t seed = i;
        struct check_array x = check_array_make(n, i % 5);
        check_fill(x.data, n, 1.0f, &seed);
        const double want = ref.reduce.sum_squares(n, x.data),
                     got = kernels.reduce.sum_squares(n, x.data);
        assert_true(fabs(got - want) <= 1e-6 * want);
        x.data[n - 1] = INFINITY;
        assert_true(isinf(kernels.reduce.sum_squares(n, x.data)));
        x.data[n / 2] = NAN;
        assert_true(isnan(kernels.reduce.sum_squares(n, x.data)));
        check_array_end(&x, "x");
    }
}

/* Additions in one order: every level gives the same bits. */
static void table_rows_agree(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    static float want[MAX_SIZE], got[MAX_SIZE];
    struct kernels ref, kernels;
    kernels_fill(&ref, ISA_REF);
    for (size_t i = 0; i < n_levels * N_SIZES * 2; i++) {
        kernels_fill(&kernels, levels[i / N_SIZES / 2]);
        const size_t n = sizes[i % N_SIZES];
        uint64_t seed = i;
        struct check_array a = check_array_make(n, 1), b = check_array_make(n, 2),
                           c = check_array_make(n, 3), y = check_array_make(n, i % 7);
        check_fill(a.data, n, 1.0f, &seed);
        check_fill(b.data, n, 1.0f, &seed);
        check_fill(c.data, n, 1.0f, &seed);
        b.data[n / 2] = i % 3 ? 1.0f : NAN;
        const float *type = i / N_SIZES % 2 ? c.data : NULL;
        ref.embedding.sum(n, a.data, b.data, type, want);
        kernels.embedding.sum(n, a.data, b.data, type, y.data);
        check_close("sum", y.data, want, n, 0.0);
        memcpy(got, y.data, n * sizeof *got);
        ref.embedding.add(n, a.data, got);
        kernels.embedding.add(n, a.data, y.data);
        check_close("add", y.data, got, n, 0.0);
        check_array_end(&a, "word");
        check_array_end(&b, "position");
        check_array_end(&c, "type");
        check_array_end(&y, "x");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(column_sums_agree),
        cmocka_unit_test(sums_of_squares_agree),
        cmocka_unit_test(table_rows_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
