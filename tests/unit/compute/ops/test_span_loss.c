/* The span loss: known values, gradients against finite differences in double, logits that overflow
 * a careless exponential, not-a-number. */
#include "op_support.h"

#include "compute/ops/span_loss.h"

enum { N_SEQS = 3, N_TOKENS = 20 };
static const uint32_t offsets[N_SEQS + 1] = {0, 7, 8, N_TOKENS};
static const uint32_t starts[N_SEQS] = {2, 0, 11}, ends[N_SEQS] = {6, 0, 0};

static double entropy(const double *z, size_t n, size_t column, size_t target)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += exp(z[2 * i + column]);
    }
    return log(sum) - z[2 * target + column];
}

static double loss(void *context)
{
    const double *z = context;
    double sum = 0.0;
    for (size_t s = 0; s < N_SEQS; s++) {
        const double *sequence = z + 2 * offsets[s];
        const size_t n = offsets[s + 1] - offsets[s];
        sum += (entropy(sequence, n, 0, starts[s]) + entropy(sequence, n, 1, ends[s])) / 2.0;
    }
    return sum / N_SEQS;
}

static void gradient_is_finite_differences(void **state)
{
    (void)state;
    float logits[2 * N_TOKENS], dlogits[2 * N_TOKENS];
    double wide[2 * N_TOKENS], want[2 * N_TOKENS], got;
    uint32_t seed = 9;
    op_fill(logits, 2 * N_TOKENS, 3.0f, &seed);
    op_widen(logits, 2 * N_TOKENS, wide);
    span_loss(N_SEQS, offsets, logits, starts, ends, 0.5f, &got, dlogits);
    assert_true(fabs(got - loss(wide)) < 1e-12);
    op_differences(loss, wide, wide, 2 * N_TOKENS, want);
    for (size_t i = 0; i < 2 * N_TOKENS; i++) {
        want[i] *= 0.5;
    }
    op_near("dlogits", dlogits, want, 2 * N_TOKENS, 1e-7);
    double alone;
    span_loss(N_SEQS, offsets, logits, starts, ends, 0.5f, &alone, NULL);
    assert_true(alone == got);
}

static void equal_logits_give_log_n(void **state)
{
    (void)state;
    const uint32_t one[2] = {0, 10}, target = 3;
    const float levels[] = {0.0f, 1e4f, -1e4f, 3e38f};
    for (size_t k = 0; k < 4; k++) {
        float logits[20], dlogits[20];
        double got;
        for (size_t i = 0; i < 20; i++) {
            logits[i] = levels[k];
        }
        span_loss(1, one, logits, &target, &target, 1.0f, &got, dlogits);
        assert_true(fabs(got - log(10.0)) <= 1e-15 * fabs((double)levels[k]) + 1e-12 || k == 3);
        for (size_t i = 0; i < 20; i++) {
            assert_true(fabs((double)dlogits[i] - 0.5 * (0.1 - (i / 2 == target))) < 1e-7);
        }
    }
}

static void not_a_number_shows(void **state)
{
    (void)state;
    const uint32_t one[2] = {0, 3}, target = 0;
    const float logits[6] = {0.0f, 0.0f, NAN, 0.0f, 0.0f, 0.0f};
    double got;
    span_loss(1, one, logits, &target, &target, 1.0f, &got, NULL);
    assert_true(isnan(got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_is_finite_differences),
        cmocka_unit_test(equal_logits_give_log_n),
        cmocka_unit_test(not_a_number_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
