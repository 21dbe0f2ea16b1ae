/* LayerNorm fused with what stands before it in a post-norm transformer:
 *     y = gamma * normalise(residual + dropout(x)) + beta. */
#ifndef COMPUTE_OPS_LAYERNORM_H
#define COMPUTE_OPS_LAYERNORM_H

#include <stddef.h>

#include "compute/ops/compute.h"
#include "compute/ops/dropout.h"

/* x, residual, y, xhat: [n,width]; rstd: [n]; gamma, beta: [width]. residual and dropout may be
 * NULL. xhat (the normalised input) and rstd are what backward needs; both may be NULL for
 * evaluation. Variance is biased, as in torch: mean((s - mean)^2) + eps. y may be x. */
void layernorm_forward(const struct compute *compute, const struct dropout *dropout,
                       const struct token_addresses *at, size_t n, size_t width, float eps,
                       const float *x, const float *residual, const float *gamma, const float *beta,
                       float *y, float *xhat, float *rstd);

/* From dy: ds = gradient of the sum (residual + dropout(x)) into dresidual[n,width] (written, or
 * added to when `accumulate_residual`); dx = dropout mask * ds (dx may be NULL when it equals ds
 * and is not wanted; dx may be dy). dgamma, dbeta += . dresidual may be NULL. The result is the
 * same for any number of threads. `scratch` holds layernorm_backward_scratch(...) bytes. */
void layernorm_backward(const struct compute *compute, const struct dropout *dropout,
                        const struct token_addresses *at, size_t n, size_t width, const float *dy,
                        const float *xhat, const float *rstd, const float *gamma, float *dx,
                        float *dresidual, int accumulate_residual, float *dgamma, float *dbeta,
                        void *scratch);
size_t layernorm_backward_scratch(const struct compute *compute, size_t width);

#endif
