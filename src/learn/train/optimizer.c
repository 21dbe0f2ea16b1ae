/* One training step of the sharded optimizer. */
#include "learn/train/optimizer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/core/memory.h"
#include "compute/ops/adamw.h"

enum { SHARD_MULTIPLE = 16, MAX_TOTALS = 6 };

size_t optimizer_n_padded(const struct params *params, int size)
{
    const size_t step = (size_t)size * SHARD_MULTIPLE;
    return (params->n_elements + step - 1) / step * step;
}

/* Cuts [begin, end) to the shard and appends it, joined to its left neighbour when that decays
 * alike. */
static void add_segment(struct optimizer *o, size_t begin, size_t end, bool decays)
{
    const size_t shard_end = o->shard_begin + o->n_shard;
    begin = begin > o->shard_begin ? begin : o->shard_begin;
    end = end < shard_end ? end : shard_end;
    if (begin >= end) {
        return;
    }
    struct optimizer_segment *last = o->n_segments ? &o->segments[o->n_segments - 1] : NULL;
    if (last && last->decays == decays && last->end == begin) {
        last->end = end;
    } else {
        o->segments[o->n_segments++] = (struct optimizer_segment){begin, end, decays};
    }
}

/* The table is in order of offsets; the gap behind a piece (zeros that stay zeros) goes with the
 * piece. */
static yoke_status make_segments(struct optimizer *o, const struct params *params)
{
    YOKE_TRY(MEM_NEW(o->segments, params->n_params));
    for (size_t i = 0; i < params->n_params; i++) {
        const bool is_last = i + 1 == params->n_params;
        const size_t end = is_last ? params->n_elements : params->table[i + 1].offset;
        add_segment(o, params->table[i].offset, end, params->table[i].decays);
    }
    return YOKE_OK;
}

yoke_status optimizer_init(struct optimizer *optimizer, const struct optimizer_options *options,
                           yoke_comm *comm, const struct compute *compute,
                           const struct params *params, float *values)
{
    const int size = yoke_comm_size(comm);
    const size_t n_padded = optimizer_n_padded(params, size);
    *optimizer = (struct optimizer){
        .options = *options,
        .comm = comm,
        .compute = compute,
        .n_shard = n_padded / (size_t)size,
        .values = values,
    };
    optimizer->shard_begin = (size_t)yoke_comm_rank(comm) * optimizer->n_shard;
    void *gradients;
    YOKE_TRY(yoke_comm_alloc(comm, n_padded * sizeof(float), &gradients));
    optimizer->gradients = gradients;
    yoke_status status = make_segments(optimizer, params);
    if (status == YOKE_OK) {
        optimizer->m = mem_big(optimizer->n_shard * sizeof(float));
        optimizer->v = mem_big(optimizer->n_shard * sizeof(float));
        status = optimizer->m && optimizer->v ? YOKE_OK : YOKE_ERR_NO_MEMORY;
    }
    if (status < 0) {
        optimizer_fini(optimizer);
    }
    return status;
}

void optimizer_fini(struct optimizer *optimizer)
{
    mem_free_big(optimizer->m, optimizer->n_shard * sizeof(float));
    mem_free_big(optimizer->v, optimizer->n_shard * sizeof(float));
    mem_free(optimizer->segments);
    *optimizer = (struct optimizer){0};
}

void optimizer_clear(struct optimizer *optimizer)
{
    const size_t n = optimizer->n_shard * (size_t)yoke_comm_size(optimizer->comm);
    float *gradients = optimizer->gradients;
#pragma omp parallel for num_threads(optimizer->compute->n_threads)
    for (size_t i = 0; i < n; i++) {
        gradients[i] = 0.0f;
    }
}

yoke_status optimizer_reduce(struct optimizer *optimizer, double *totals, size_t n_totals,
                             double *norm_out)
{
    float *shard = optimizer->gradients + optimizer->shard_begin;
    YOKE_TRY(yoke_comm_reduce_scatter(optimizer->comm, optimizer->gradients, shard,
                                      optimizer->n_shard, YOKE_FLOAT32, YOKE_SUM));
    /* One small all-reduce carries the norm and the caller's sums. */
    double sums[1 + MAX_TOTALS];
    assert(n_totals <= MAX_TOTALS);
    sums[0] = vector_sum_squares(optimizer->compute, optimizer->n_shard, shard);
    memcpy(sums + 1, totals, n_totals * sizeof *totals);
    YOKE_TRY(
        yoke_comm_allreduce(optimizer->comm, sums, sums, 1 + n_totals, YOKE_FLOAT64, YOKE_SUM));
    memcpy(totals, sums + 1, n_totals * sizeof *totals);
    *norm_out = sqrt(sums[0]);
    return YOKE_OK;
}

/* torch's clip_grad_norm_: max/(norm + 1e-6), never above 1. */
static double clip_factor(const struct optimizer_options *options, double norm)
{
    const double factor = options->max_norm / (norm + 1e-6);
    return options->max_norm > 0.0 && factor < 1.0 ? factor : 1.0;
}

yoke_status optimizer_update(struct optimizer *optimizer, double learning_rate, double norm,
                             int64_t step)
{
    const struct optimizer_options *options = &optimizer->options;
    struct adamw adamw = {
        .learning_rate = (float)learning_rate,
        .beta1 = (float)options->beta1,
        .beta2 = (float)options->beta2,
        .epsilon = (float)options->epsilon,
        .gradient_scale = (float)clip_factor(options, norm),
        .step = step,
    };
    for (size_t i = 0; i < optimizer->n_segments; i++) {
        const struct optimizer_segment *segment = &optimizer->segments[i];
        const size_t in_shard = segment->begin - optimizer->shard_begin;
        adamw.weight_decay = segment->decays ? (float)options->weight_decay : 0.0f;
        adamw_update(optimizer->compute, &adamw, segment->end - segment->begin,
                     optimizer->gradients + segment->begin, optimizer->values + segment->begin,
                     optimizer->m + in_shard, optimizer->v + in_shard);
    }
    return yoke_comm_allgather(optimizer->comm, optimizer->values + optimizer->shard_begin,
                               optimizer->values, optimizer->n_shard, YOKE_FLOAT32);
}
