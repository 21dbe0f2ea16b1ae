/* GELU (D. Hendrycks and K. Gimpel, arXiv:1606.08415): the erf form, or its tanh approximation. */
#ifndef COMPUTE_OPS_GELU_H
#define COMPUTE_OPS_GELU_H

#include <stddef.h>

#include "compute/ops/compute.h"

enum gelu_kind { GELU_ERF, GELU_TANH };

/* y[n] = gelu(h[n]); y may be h. */
void gelu_forward(const struct compute *compute, enum gelu_kind kind, size_t n, const float *h,
                  float *y);

/* dh[n] = dy[n] * gelu'(h[n]); dh may be dy. */
void gelu_backward(const struct compute *compute, enum gelu_kind kind, size_t n, const float *h,
                   const float *dy, float *dh);

#endif
