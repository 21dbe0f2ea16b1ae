/* GELU in plain C and double. The normal distribution function comes from erfc, which keeps its
 * relative accuracy where 1 + erf would cancel. */
#include "compute/kernels/gelu/gelu_kernels.h"

#include <math.h>

#define SQRT_HALF 0.70710678118654752
#define NORMAL_DENSITY_0 0.39894228040143268 /* 1 / sqrt(2 pi) */

static double normal_distribution(double h)
{
    return 0.5 * erfc(-h * SQRT_HALF);
}

static void erf_forward(size_t n, const float *h, float *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)(h[i] * normal_distribution(h[i]));
    }
}

static void erf_backward(size_t n, const float *h, const float *dy, float *dh)
{
    for (size_t i = 0; i < n; i++) {
        const double x = h[i];
        const double density = NORMAL_DENSITY_0 * exp(-0.5 * x * x);
        dh[i] = (float)(dy[i] * (normal_distribution(x) + x * density));
    }
}

/* (1 + tanh u) / 2 = 1 / (1 + e^-2u) */
static double logistic(double h)
{
    return 1.0 / (1.0 + exp(-2.0 * GELU_TANH_LINEAR * (h + GELU_TANH_CUBIC * h * h * h)));
}

static void tanh_forward(size_t n, const float *h, float *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (float)(h[i] * logistic(h[i]));
    }
}

static void tanh_backward(size_t n, const float *h, const float *dy, float *dh)
{
    for (size_t i = 0; i < n; i++) {
        const double x = h[i], s = logistic(x);
        const double slope = 2.0 * GELU_TANH_LINEAR * (1.0 + 3.0 * GELU_TANH_CUBIC * x * x);
        dh[i] = (float)(dy[i] * (s + x * s * (1.0 - s) * slope));
    }
}

void gelu_fill_ref(struct gelu_kernels *kernels)
{
    *kernels = (struct gelu_kernels){.erf_forward = erf_forward,
                                     .erf_forward_name = "ref",
                                     .erf_backward = erf_backward,
                                     .erf_backward_name = "ref",
                                     .tanh_forward = tanh_forward,
                                     .tanh_forward_name = "ref",
                                     .tanh_backward = tanh_backward,
                                     .tanh_backward_name = "ref"};
}
