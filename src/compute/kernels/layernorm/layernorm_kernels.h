/* LayerNorm of rows, fused with the dropout and the residual sum before it; one thread. */
#ifndef COMPUTE_KERNELS_LAYERNORM_KERNELS_H
#define COMPUTE_KERNELS_LAYERNORM_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compute/kernels/dropout/dropout_kernels.h"

/* n rows: s = residual + dropout(x); y = gamma (s - mean) rstd + beta with rstd = 1/sqrt(var +
 * eps). */
struct layernorm_forward_rows {
    size_t n, width;
    const struct dropout_stream *dropout; /* NULL for none */
    const uint32_t *examples, *positions; /* [n], read with dropout only */
    float eps;
    const float *x, *residual; /* [n,width]; residual may be NULL */
    const float *gamma, *beta; /* [width] */
    float *y, *xhat, *rstd;    /* [n,width] (may be x), [n,width], [n]; the last two may be NULL */
};

struct layernorm_backward_rows {
    size_t n, width;
    const struct dropout_stream *dropout;
    const uint32_t *examples, *positions;
    const float *dy, *xhat, *rstd, *gamma;
    float *dx;        /* [n,width], may be dy or NULL */
    float *dresidual; /* [n,width] or NULL */
    bool accumulate_residual;
    float *dgamma, *dbeta; /* [width], added to */
};

struct layernorm_kernels {
    void (*forward)(const struct layernorm_forward_rows *rows);
    const char *forward_name;
    void (*backward)(const struct layernorm_backward_rows *rows);
    const char *backward_name;
};

void layernorm_fill_ref(struct layernorm_kernels *kernels);
void layernorm_fill_avx2(struct layernorm_kernels *kernels);
void layernorm_fill_avx512(struct layernorm_kernels *kernels);

#endif
