/* Sum of word, position and (BERT) token-type embeddings, and its gradient. */
#ifndef COMPUTE_OPS_EMBEDDING_H
#define COMPUTE_OPS_EMBEDDING_H

#include <stddef.h>
#include <stdint.h>

#include "compute/ops/compute.h"

/* The tables and the rows that each of n tokens takes. `types` and `type_table` are NULL for models
 * without token types. Ids are in range: the caller checked them. */
struct embedding {
    size_t n;
    size_t width;
    const uint32_t *ids;
    const uint32_t *positions;
    const uint8_t *types;
    int64_t padding_id; /* this word gets no gradient; -1 for none */
};

/* x[n,width] = word[id] + position[pos] + type[t]. type_table may be NULL. */
void embedding_forward(const struct compute *compute, const struct embedding *embedding,
                       const float *word_table, const float *position_table,
                       const float *type_table, float *x);

/* Tables' gradients += rows of dx. Threads split the columns, so the sum's order is fixed. */
void embedding_backward(const struct compute *compute, const struct embedding *embedding,
                        const float *dx, float *dword_table, float *dposition_table,
                        float *dtype_table);

#endif
