/* The GELU op: against the definition in double, its gradient against finite differences of it, at
 * every level, in place, for several numbers of threads. */
#include "op_support.h"

#include "compute/ops/gelu.h"

enum { N = 20011 }; /* odd, and enough for several threads */

static double definition(enum gelu_kind kind, double h)
{
    if (kind == GELU_ERF) {
        return 0.5 * h * (1.0 + erf(h / sqrt(2.0)));
    }
    return 0.5 * h * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (h + 0.044715 * h * h * h)));
}

static void values_and_slopes(enum gelu_kind kind, enum isa_level level, int n_threads)
{
    static float h[N], dy[N], y[N], dh[N];
    static double want[N], slope[N];
    uint32_t state = 5;
    op_fill(h, N, 6.0f, &state);
    op_fill(dy, N, 1.0f, &state);
    for (size_t i = 0; i < N; i++) {
        const double x = h[i], e = 1e-5;
        want[i] = definition(kind, x);
        slope[i] = dy[i] * (definition(kind, x + e) - definition(kind, x - e)) / (2.0 * e);
    }
    const struct compute compute = op_compute(level, n_threads);
    gelu_forward(&compute, kind, N, h, y);
    op_near("y", y, want, N, 1e-6);
    gelu_backward(&compute, kind, N, h, dy, dh);
    op_near("dh", dh, slope, N, 1e-6);
    gelu_backward(&compute, kind, N, h, dy, dy);
    assert_memory_equal(dy, dh, sizeof dh);
    gelu_forward(&compute, kind, N, h, h);
    assert_memory_equal(h, y, sizeof h);
}

static void both_kinds_at_every_level(void **state)
{
    (void)state;
    for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
        values_and_slopes(GELU_ERF, level, 1 + (int)level);
        values_and_slopes(GELU_TANH, level, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(both_kinds_at_every_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
