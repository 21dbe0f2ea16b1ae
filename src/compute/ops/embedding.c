/* Embeddings over all threads: forward splits the tokens, backward the columns. */
#include "compute/ops/embedding.h"

#include "compute/ops/slice.h"

void embedding_forward(const struct compute *compute, const struct embedding *embedding,
                       const float *word_table, const float *position_table,
                       const float *type_table, float *x)
{
    const size_t width = embedding->width;
    const int n_threads = embedding->n * width < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (size_t t = 0; t < embedding->n; t++) {
        const float *type =
            type_table ? type_table + (embedding->types ? embedding->types[t] : 0) * width : NULL;
        compute->kernels.embedding.sum(width, word_table + embedding->ids[t] * width,
                                       position_table + embedding->positions[t] * width, type,
                                       x + t * width);
    }
}

/* The columns first .. first + n - 1 of every table's gradient. */
static void add_columns(const struct embedding_kernels *kernels, const struct embedding *embedding,
                        struct slice columns, const float *dx, float *dword_table,
                        float *dposition_table, float *dtype_table)
{
    const size_t width = embedding->width, first = columns.first;
    for (size_t t = 0; t < embedding->n; t++) {
        const float *row = dx + t * width + first;
        if ((int64_t)embedding->ids[t] != embedding->padding_id) {
            kernels->add(columns.n, row, dword_table + embedding->ids[t] * width + first);
        }
        kernels->add(columns.n, row, dposition_table + embedding->positions[t] * width + first);
        if (dtype_table) {
            const size_t type = embedding->types ? embedding->types[t] : 0;
            kernels->add(columns.n, row, dtype_table + type * width + first);
        }
    }
}

void embedding_backward(const struct compute *compute, const struct embedding *embedding,
                        const float *dx, float *dword_table, float *dposition_table,
                        float *dtype_table)
{
    const int n_threads = embedding->n * embedding->width < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int part = 0; part < n_threads; part++) {
        const struct slice columns =
            slice_of(embedding->width, SLICE_LINE, (size_t)part, (size_t)n_threads);
        add_columns(&compute->kernels.embedding, embedding, columns, dx, dword_table,
                    dposition_table, dtype_table);
    }
}
