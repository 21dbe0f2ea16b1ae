/* A packed batch: arrays sized once, filled sequence by sequence. */
#include "learn/model/batch.h"

#include <assert.h>
#include <string.h>

#include "base/core/memory.h"

yoke_status batch_init(struct batch *batch, size_t max_tokens, size_t max_seqs)
{
    *batch = (struct batch){.max_tokens = max_tokens, .max_seqs = max_seqs};
    yoke_status status = YOKE_OK;
    YOKE_TRY_GOTO(MEM_NEW(batch->offsets, max_seqs + 1));
    YOKE_TRY_GOTO(MEM_NEW(batch->ids, max_tokens));
    YOKE_TRY_GOTO(MEM_NEW(batch->positions, max_tokens));
    YOKE_TRY_GOTO(MEM_NEW(batch->types, max_tokens));
    YOKE_TRY_GOTO(MEM_NEW(batch->examples, max_tokens));
    YOKE_TRY_GOTO(MEM_NEW(batch->starts, max_seqs));
    YOKE_TRY_GOTO(MEM_NEW(batch->ends, max_seqs));
done:
    if (status < 0) {
        batch_fini(batch);
    }
    return status;
}

void batch_fini(struct batch *batch)
{
    mem_free(batch->offsets);
    mem_free(batch->ids);
    mem_free(batch->positions);
    mem_free(batch->types);
    mem_free(batch->examples);
    mem_free(batch->starts);
    mem_free(batch->ends);
    *batch = (struct batch){0};
}

void batch_clear(struct batch *batch)
{
    batch->n_tokens = 0;
    batch->n_seqs = 0;
    batch->max_len = 0;
}

void batch_add(struct batch *batch, uint32_t example, size_t n, const uint32_t *ids,
               const uint8_t *types, uint32_t start, uint32_t end)
{
    assert(batch->n_seqs < batch->max_seqs && n <= batch->max_tokens - batch->n_tokens);
    const size_t first = batch->n_tokens;
    memcpy(batch->ids + first, ids, n * sizeof *ids);
    if (types) {
        memcpy(batch->types + first, types, n);
    } else {
        memset(batch->types + first, 0, n);
    }
    for (size_t i = 0; i < n; i++) {
        batch->positions[first + i] = (uint32_t)i;
        batch->examples[first + i] = example;
    }
    batch->starts[batch->n_seqs] = start;
    batch->ends[batch->n_seqs] = end;
    batch->n_seqs++;
    batch->n_tokens += n;
    batch->offsets[batch->n_seqs] = (uint32_t)batch->n_tokens;
    if (n > batch->max_len) {
        batch->max_len = n;
    }
}
