/* LayerNorm over all threads.
 *
 * dgamma and dbeta are sums over all rows. The rows are cut into blocks whose number depends on n
 * alone; each block sums into its own piece of scratch, and the pieces are added in order, so the
 * result is the same for any number of threads. */
#include "compute/ops/layernorm.h"

#include <string.h>

#include "compute/ops/slice.h"

/* At most 128 blocks (of use to as many threads), at least 16 rows in each, so that clearing and
 * adding the pieces stays small beside the rows themselves. */
enum { MAX_BLOCKS = 128, MIN_BLOCK_ROWS = 16 };

void layernorm_forward(const struct compute *compute, const struct dropout *dropout,
                       const struct token_addresses *at, size_t n, size_t width, float eps,
                       const float *x, const float *residual, const float *gamma, const float *beta,
                       float *y, float *xhat, float *rstd)
{
    struct dropout_stream stream;
    const bool drops = dropout_begin(dropout, &stream);
    const int n_threads = n * width < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int part = 0; part < n_threads; part++) {
        const struct slice cut = slice_of(n, 1, (size_t)part, (size_t)n_threads);
        const size_t i = cut.first * width;
        compute->kernels.layernorm.forward(&(struct layernorm_forward_rows){
            .n = cut.n,
            .width = width,
            .dropout = drops ? &stream : NULL,
            .examples = drops ? at->examples + cut.first : NULL,
            .positions = drops ? at->positions + cut.first : NULL,
            .eps = eps,
            .x = x + i,
            .residual = residual ? residual + i : NULL,
            .gamma = gamma,
            .beta = beta,
            .y = y + i,
            .xhat = xhat ? xhat + i : NULL,
            .rstd = rstd ? rstd + cut.first : NULL,
        });
    }
}

size_t layernorm_backward_scratch(const struct compute *compute, size_t width)
{
    (void)compute; /* the pieces do not depend on the threads */
    return 2 * MAX_BLOCKS * width * sizeof(float);
}

/* sums[width] += pieces[n_blocks,2,width][:,which], in the order of the blocks. */
static void add_pieces(const struct compute *compute, size_t n_blocks, size_t width,
                       const float *pieces, size_t which, float *sums)
{
    for (size_t block = 0; block < n_blocks; block++) {
        compute->kernels.embedding.add(width, pieces + (2 * block + which) * width, sums);
    }
}

void layernorm_backward(const struct compute *compute, const struct dropout *dropout,
                        const struct token_addresses *at, size_t n, size_t width, const float *dy,
                        const float *xhat, const float *rstd, const float *gamma, float *dx,
                        float *dresidual, int accumulate_residual, float *dgamma, float *dbeta,
                        void *scratch)
{
    struct dropout_stream stream;
    const bool drops = dropout_begin(dropout, &stream);
    const size_t wanted = (n + MIN_BLOCK_ROWS - 1) / MIN_BLOCK_ROWS;
    const size_t n_blocks = wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    float *pieces = scratch;
    const int n_threads = n * width < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (size_t block = 0; block < n_blocks; block++) {
        const struct slice cut = slice_of(n, 1, block, n_blocks);
        const size_t i = cut.first * width;
        float *piece = pieces + 2 * block * width;
        memset(piece, 0, 2 * width * sizeof *piece);
        compute->kernels.layernorm.backward(&(struct layernorm_backward_rows){
            .n = cut.n,
            .width = width,
            .dropout = drops ? &stream : NULL,
            .examples = drops ? at->examples + cut.first : NULL,
            .positions = drops ? at->positions + cut.first : NULL,
            .dy = dy + i,
            .xhat = xhat + i,
            .rstd = rstd + cut.first,
            .gamma = gamma,
            .dx = dx ? dx + i : NULL,
            .dresidual = dresidual ? dresidual + i : NULL,
            .accumulate_residual = accumulate_residual != 0,
            .dgamma = piece,
            .dbeta = piece + width,
        });
    }
    add_pieces(compute, n_blocks, width, pieces, 0, dgamma);
    add_pieces(compute, n_blocks, width, pieces, 1, dbeta);
}
