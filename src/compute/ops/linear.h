/* The linear layer y = x w^T + b and its gradients, fp32, over oneDNN's matrix product.
 * All matrices are row-major and dense. n may be any number from 1. Threads inside. For a
 * given number of threads the result is always the same; for another one the products may be summed
 * in another order. */
#ifndef COMPUTE_OPS_LINEAR_H
#define COMPUTE_OPS_LINEAR_H

#include <stddef.h>

#include "compute/ops/compute.h"

/* y[n,out] = x[n,in] w[out,in]^T + b[out]; b may be NULL. */
yoke_status linear_forward(const struct compute *compute, size_t n, size_t in, size_t out,
                           const float *x, const float *w, const float *b, float *y) YOKE_MUST_USE;

/* dx[n,in] = dy[n,out] w[out,in], or += when `accumulate`. */
yoke_status linear_backward_input(const struct compute *compute, size_t n, size_t in, size_t out,
                                  const float *dy, const float *w, int accumulate,
                                  float *dx) YOKE_MUST_USE;

/* dw[out,in] += dy[n,out]^T x[n,in]; db[out] += column sums of dy (db may be NULL). */
yoke_status linear_backward_weight(const struct compute *compute, size_t n, size_t in, size_t out,
                                   const float *dy, const float *x, float *dw,
                                   float *db) YOKE_MUST_USE;

#endif
