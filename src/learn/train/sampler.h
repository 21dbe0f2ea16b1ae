/* Which examples a rank sees, and when.
 *
 * The order of an epoch is torch.randperm(n) on MT19937 seeded with seed + epoch. It is cut into
 * batches that are dealt to the ranks in turn: batch k of rank r is batch k*world + r of the epoch,
 * as the reference's BatchSamplerShard deals them. Round k is what all ranks together take at their
 * k-th batch.
 *
 * Where the last round is not full, the reference repeats examples from the beginning of the order;
 * here the ranks get fewer, or none, and the loop weighs by numbers, so that any number of ranks
 * trains as one rank with the whole round as its batch would. With drop_last a round that is not
 * full is left out.
 *
 * The order is a function of (seed, epoch): a resumed run draws it anew and needs no saved state.
 */
#ifndef LEARN_TRAIN_SAMPLER_H
#define LEARN_TRAIN_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

struct sampler_shape {
    size_t n_examples; /* at least 1 */
    size_t batch_size; /* at least 1 */
    size_t rank, world;
    bool drop_last;
};

struct sampler {
    struct sampler_shape shape;
    uint64_t seed;
    int64_t *order; /* [n_examples] of the present epoch */
};

/* Rounds of an epoch: the batches that every rank counts; 0 when drop_last leaves none. */
size_t sampler_n_batches(const struct sampler_shape *shape);

yoke_status sampler_init(struct sampler *sampler, const struct sampler_shape *shape,
                         uint64_t seed) YOKE_MUST_USE;
void sampler_fini(struct sampler *sampler);

/* Draws the order of `epoch` (0, 1, ...). */
void sampler_set_epoch(struct sampler *sampler, uint64_t epoch);

/* Examples that all ranks together take in round k < sampler_n_batches: at least 1. */
size_t sampler_round_size(const struct sampler *sampler, size_t k);

/* Example numbers of this rank's batch in round k, in examples[batch_size]; returns how many there
 * are, which may be none in an epoch's last round. */
size_t sampler_batch(const struct sampler *sampler, size_t k, size_t *examples);

#endif
