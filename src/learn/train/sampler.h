/* Which examples a rank sees, and when.
 *
 * The order of an epoch is torch.randperm(n) on MT19937 seeded with seed + epoch. It is cut into
 * batches that are dealt to the ranks in turn: batch k of rank r is batch k*world + r of the epoch.
 * With several ranks every rank gets the same number of full batches: what is missing at the end is
 * filled from the beginning of the epoch's order (accelerate's BatchSamplerShard with
 * even_batches). One rank alone keeps its short last batch. With drop_last, incomplete batches and
 * incomplete rounds are left out.
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

/* Batches that every rank gets in one epoch; 0 when drop_last leaves none. */
size_t sampler_n_batches(const struct sampler_shape *shape);

yoke_status sampler_init(struct sampler *sampler, const struct sampler_shape *shape,
                         uint64_t seed) YOKE_MUST_USE;
void sampler_fini(struct sampler *sampler);

/* Draws the order of `epoch` (0, 1, ...). */
void sampler_set_epoch(struct sampler *sampler, uint64_t epoch);

/* Example numbers of batch k < sampler_n_batches in examples[batch_size]; returns how many there
 * are. */
size_t sampler_batch(const struct sampler *sampler, size_t k, size_t *examples);

#endif
