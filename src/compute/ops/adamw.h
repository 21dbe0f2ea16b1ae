/* AdamW (I. Loshchilov and F. Hutter, arXiv:1711.05101) as torch computes it, in one pass. */
#ifndef COMPUTE_OPS_ADAMW_H
#define COMPUTE_OPS_ADAMW_H

#include <stddef.h>
#include <stdint.h>

#include "compute/ops/compute.h"

struct adamw {
    float learning_rate;
    float beta1;
    float beta2;
    float epsilon;
    float weight_decay;
    float gradient_scale; /* every gradient is multiplied by it first: clipping, averaging */
    int64_t step;         /* 1 for the first update */
};

/* p -= lr*wd*p; m, v moments; p -= lr/(1-b1^t) * m / (sqrt(v)/sqrt(1-b2^t) + eps). n elements;
 * the gradient is read only. */
void adamw_update(const struct compute *compute, const struct adamw *adamw, size_t n,
                  const float *gradient, float *p, float *m, float *v);

/* Sum of squares of x[n] in double, the same for any number of threads. */
double vector_sum_squares(const struct compute *compute, size_t n, const float *x);

#endif
