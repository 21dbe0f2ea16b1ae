/* Batches of a rank as arithmetic on positions of the epoch's order. */
#include "learn/train/sampler.h"

#include "base/core/memory.h"
#include "base/core/mt19937.h"

size_t sampler_n_batches(const struct sampler_shape *shape)
{
    if (shape->drop_last) {
        return shape->n_examples / shape->batch_size / shape->world;
    }
    const size_t batches = (shape->n_examples + shape->batch_size - 1) / shape->batch_size;
    return (batches + shape->world - 1) / shape->world;
}

yoke_status sampler_init(struct sampler *sampler, const struct sampler_shape *shape, uint64_t seed)
{
    *sampler = (struct sampler){.shape = *shape, .seed = seed};
    YOKE_TRY(MEM_NEW(sampler->order, shape->n_examples));
    sampler_set_epoch(sampler, 0);
    return YOKE_OK;
}

void sampler_fini(struct sampler *sampler)
{
    mem_free(sampler->order);
    *sampler = (struct sampler){0};
}

void sampler_set_epoch(struct sampler *sampler, uint64_t epoch)
{
    struct mt19937 mt;
    mt19937_seed(&mt, sampler->seed + epoch);
    mt19937_randperm(&mt, (int64_t)sampler->shape.n_examples, sampler->order);
}

size_t sampler_round_size(const struct sampler *sampler, size_t k)
{
    const struct sampler_shape *shape = &sampler->shape;
    const size_t full = shape->world * shape->batch_size;
    const size_t left = shape->n_examples - k * full;
    return left < full ? left : full;
}

size_t sampler_batch(const struct sampler *sampler, size_t k, size_t *examples)
{
    const struct sampler_shape *shape = &sampler->shape;
    const size_t n = shape->n_examples;
    const size_t begin = (k * shape->world + shape->rank) * shape->batch_size;
    const size_t end = begin + shape->batch_size < n ? begin + shape->batch_size : n;
    for (size_t p = begin; p < end; p++) {
        examples[p - begin] = (size_t)sampler->order[p];
    }
    return begin < end ? end - begin : 0;
}
