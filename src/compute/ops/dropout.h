/* Dropout whose randomness has an address.
 *
 * The mask bit of an element is a pure function of (seed, training step, site, example, position,
 * column): a counter-based generator (Philox; J. Salmon et al., "Parallel random numbers: as easy
 * as 1, 2, 3", SC'11). No mask is stored: backward draws it again. The number of ranks, threads or
 * the packing of a batch changes nothing. */
#ifndef COMPUTE_OPS_DROPOUT_H
#define COMPUTE_OPS_DROPOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compute/ops/compute.h"

/* One dropout site of one step. p = 0 (or a NULL pointer where ops take one) means no dropout. */
struct dropout {
    float p; /* probability of a zero, 0 <= p < 1; kept elements are scaled by 1/(1-p) */
    uint64_t seed;
    uint32_t step; /* training step, counting accumulated micro-steps */
    uint32_t site; /* (layer, place) */
};

/* Where each packed token comes from: the example's number in its data set and the position in it.
 */
struct token_addresses {
    const uint32_t *examples;  /* [n_tokens] */
    const uint32_t *positions; /* [n_tokens] */
};

/* Prepares the kernels' view of a site (for ops that fuse dropout into other work). False, with
 * *stream_out untouched, when there is nothing to drop: NULL or p = 0. */
bool dropout_begin(const struct dropout *dropout, struct dropout_stream *stream_out);

/* y[n,width] = mask * x / (1-p); y may be x. Its own gradient: dx from dy by the same call. */
void dropout_apply(const struct compute *compute, const struct dropout *dropout,
                   const struct token_addresses *at, size_t n, size_t width, const float *x,
                   float *y);

#endif
