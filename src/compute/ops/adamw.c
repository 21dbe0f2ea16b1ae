/* AdamW and the norm of the gradient over all threads. */
#include "compute/ops/adamw.h"

#include <math.h>

#include "compute/ops/slice.h"

/* torch computes these numbers in double and rounds them once. */
static struct adamw_coefficients coefficients_of(const struct adamw *adamw)
{
    const double lr = adamw->learning_rate, beta1 = adamw->beta1, beta2 = adamw->beta2;
    const double t = (double)adamw->step;
    return (struct adamw_coefficients){
        .gradient_scale = adamw->gradient_scale,
        .keep = (float)(1.0 - lr * adamw->weight_decay),
        .rate1 = (float)(1.0 - beta1),
        .beta2 = adamw->beta2,
        .rate2 = (float)(1.0 - beta2),
        .inverse_root = (float)(1.0 / sqrt(1.0 - pow(beta2, t))),
        .epsilon = adamw->epsilon,
        .step_size = (float)(lr / (1.0 - pow(beta1, t))),
    };
}

void adamw_update(const struct compute *compute, const struct adamw *adamw, size_t n,
                  const float *gradient, float *p, float *m, float *v)
{
    const struct adamw_coefficients coefficients = coefficients_of(adamw);
    const int n_threads = n < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int part = 0; part < n_threads; part++) {
        const struct slice cut = slice_of(n, SLICE_LINE, (size_t)part, (size_t)n_threads);
        const size_t i = cut.first;
        compute->kernels.adamw.update(&coefficients, cut.n, gradient + i, p + i, m + i, v + i);
    }
}

double vector_sum_squares(const struct compute *compute, size_t n, const float *x)
{
    enum { N_PARTS = 256 }; /* independent of the threads, so the order of the sum is, too */
    double sums[N_PARTS];
    const int n_threads = n < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int part = 0; part < N_PARTS; part++) {
        const struct slice cut = slice_of(n, SLICE_LINE, (size_t)part, N_PARTS);
        sums[part] = compute->kernels.reduce.sum_squares(cut.n, x + cut.first);
    }
    double sum = 0.0;
    for (int part = 0; part < N_PARTS; part++) {
        sum += sums[part];
    }
    return sum;
}
