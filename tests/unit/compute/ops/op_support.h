/* What the tests of ops share: repeatable numbers, the op's context at a level, comparison with
 * double, and central differences. */
#ifndef TESTS_OP_SUPPORT_H
#define TESTS_OP_SUPPORT_H

#include "support.h"

#include <math.h>

#include "compute/ops/compute.h"

/* In [-1, 1); a linear congruential generator, the state is the seed. */
static inline float op_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) * 0x1p-23f - 1.0f;
}

static inline void op_fill(float *x, size_t n, float amplitude, uint32_t *state)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = amplitude * op_number(state);
    }
}

static inline struct compute op_compute(enum isa_level level, int n_threads)
{
    struct compute compute;
    EXPECT_OK(compute_init(&compute, level, n_threads));
    return compute;
}

/* |got - want| <= tolerance * (1 + |want|) */
static inline void op_near(const char *what, const float *got, const double *want, size_t n,
                           double tolerance)
{
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)got[i] - want[i]);
        if (!(error <= tolerance * (1.0 + fabs(want[i])))) {
            fail_msg("%s: [%zu] of %zu is %.9g, wanted %.9g", what, i, n, (double)got[i], want[i]);
        }
    }
}

/* d loss / d x[i] for all n, by central differences. Errors: h^2 f''' / 6 and 1e-16 |f| / h. */
typedef double op_loss(void *context);

static inline void op_differences(op_loss *loss, void *context, double *x, size_t n,
                                  double *gradient_out)
{
    const double h = 1e-5;
    for (size_t i = 0; i < n; i++) {
        const double saved = x[i];
        x[i] = saved + h;
        const double above = loss(context);
        x[i] = saved - h;
        gradient_out[i] = (above - loss(context)) / (2.0 * h);
        x[i] = saved;
    }
}

static inline void op_widen(const float *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = x[i];
    }
}

static inline double op_dot(const float *a, const double *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

#endif
