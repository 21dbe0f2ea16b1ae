/* The loss of extractive question answering: the mean of two cross-entropies, of the answer's first
 * and last token among the tokens of its sequence. */
#ifndef COMPUTE_OPS_SPAN_LOSS_H
#define COMPUTE_OPS_SPAN_LOSS_H

#include <stddef.h>
#include <stdint.h>

#include "compute/ops/compute.h"

/* logits[n,2] (start, end) of n_seqs packed sequences with offsets[n_seqs+1]; starts, ends: target
 * positions within each sequence, [n_seqs]. *loss_out = mean over sequences of
 * (CE(start)+CE(end))/2, sums in double. dlogits[n,2] = gradient of loss * `gradient_scale`; NULL
 * for none. */
void span_loss(size_t n_seqs, const uint32_t *offsets, const float *logits, const uint32_t *starts,
               const uint32_t *ends, float gradient_scale, double *loss_out, float *dlogits);

#endif
