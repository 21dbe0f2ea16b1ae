/* AdamW over flat parameters, its work and its memory divided by the number of ranks.
 *
 * The flat arrays of values and gradients are padded so that every rank owns a shard of the same
 * size. A training step reduce-scatters the gradients, so that each rank holds the sum of its
 * shard, takes the global norm, updates its shard of the values with its shard of the moments, and
 * all-gathers the values. One rank runs the same code and is the plain optimizer. (The sharding of
 * optimizer state: S. Rajbhandari et al., "ZeRO", arXiv:1910.02054, stage 1 with reduced
 * gradients.) */
#ifndef LEARN_TRAIN_OPTIMIZER_H
#define LEARN_TRAIN_OPTIMIZER_H

#include <stdint.h>

#include "compute/ops/compute.h"
#include "learn/model/params.h"
#include "yoke/comm.h"

struct optimizer_options {
    double beta1, beta2, epsilon, weight_decay;
    double max_norm; /* 0: gradients are not clipped */
};

/* Neighbouring parameters of the shard that all decay, or all do not: elements [begin, end) of the
 * flat array. */
struct optimizer_segment {
    size_t begin, end;
    bool decays;
};

struct optimizer {
    struct optimizer_options options;
    yoke_comm *comm;
    const struct compute *compute;
    size_t n_shard;     /* elements */
    size_t shard_begin; /* first element of this rank's shard */
    float *values;      /* [size*n_shard] borrowed: yoke_comm_alloc */
    float *gradients;   /* [size*n_shard] owned by the communicator */
    float *m, *v;       /* [n_shard] */
    struct optimizer_segment *segments;
    size_t n_segments;
};

/* Elements of a flat array that `size` ranks share in equal shards of whole cache lines. */
size_t optimizer_n_padded(const struct params *params, int size);

/* Collective. `values` has optimizer_n_padded elements and is the same on all ranks. */
yoke_status optimizer_init(struct optimizer *optimizer, const struct optimizer_options *options,
                           yoke_comm *comm, const struct compute *compute,
                           const struct params *params, float *values) YOKE_MUST_USE;
void optimizer_fini(struct optimizer *optimizer);

/* Sets all gradients to zero: before the batches of a training step are added up. */
void optimizer_clear(struct optimizer *optimizer);

/* Collective: sums gradients over the ranks, *norm_out is the norm of the sum, and
 * totals[0..n_totals-1] (at most 6) are summed over the ranks too. All ranks get the same bits. */
yoke_status optimizer_reduce(struct optimizer *optimizer, double *totals, size_t n_totals,
                             double *norm_out) YOKE_MUST_USE;

/* Collective, after optimizer_reduce: clips by `norm` and makes update number `step` (1 for the
 * first). */
yoke_status optimizer_update(struct optimizer *optimizer, double learning_rate, double norm,
                             int64_t step) YOKE_MUST_USE;

#endif
