/* Attention over all (sequence, head) units of a packed batch.
 *
 * A unit is one thread's work and writes nothing that another unit touches, so the result does not
 * depend on who computes it. Units cost len^2; they are handed out longest first, which keeps the
 * last ones short (R. Graham's bound: at most 4/3 of the best schedule). */
#include "compute/ops/attention.h"

#include <assert.h>
#include <omp.h>

/* Sequences are sorted in slices of this many, on the stack. */
enum { SLICE = 256 };

/* One call of the op; what a pass does not use is NULL. */
struct job {
    const struct attention_kernels *kernels;
    const struct attention_shape *shape;
    const struct dropout_stream *dropout; /* NULL for none */
    const struct token_addresses *at;
    const float *qkv;
    float *out, *lse;                          /* written by forward */
    const float *saved_out, *saved_lse, *dout; /* read by backward */
    float *dqkv;
    float *scratch;
};

static size_t thread_floats(const struct attention_kernels *kernels, size_t max_len,
                            size_t head_dim)
{
    const size_t line = 16; /* floats of a cache line: threads must not share one */
    return (kernels->scratch_floats(max_len, head_dim) + line - 1) / line * line;
}

size_t attention_scratch(const struct compute *compute, size_t max_len, size_t head_dim)
{
    return (size_t)compute->n_threads *
           thread_floats(&compute->kernels.attention, max_len, head_dim) * sizeof(float);
}

static float *thread_scratch(const struct job *job)
{
    return job->scratch + (size_t)omp_get_thread_num() * thread_floats(job->kernels,
                                                                       job->shape->max_len,
                                                                       job->shape->head_dim);
}

static size_t length(const struct attention_shape *shape, size_t sequence)
{
    return shape->offsets[sequence + 1] - shape->offsets[sequence];
}

/* order_out[n] = sequences first .. first + n - 1, longest first, equals in their order. */
static void sort_by_length(const struct attention_shape *shape, size_t first, size_t n,
                           uint32_t order_out[SLICE])
{
    for (size_t i = 0; i < n; i++) {
        const size_t len = length(shape, first + i);
        size_t place = i;
        for (; place > 0 && length(shape, order_out[place - 1]) < len; place--) {
            order_out[place] = order_out[place - 1];
        }
        order_out[place] = (uint32_t)(first + i);
    }
}

static struct attention_unit unit_make(const struct job *job, size_t sequence, size_t head)
{
    const struct attention_shape *shape = job->shape;
    const size_t hidden = shape->n_heads * shape->head_dim, token = shape->offsets[sequence];
    const float *q = job->qkv + token * 3 * hidden + head * shape->head_dim;
    assert(length(shape, sequence) <= shape->max_len && shape->head_dim <= ATTENTION_MAX_DIM);
    return (struct attention_unit){.len = length(shape, sequence),
                                   .dim = shape->head_dim,
                                   .qkv_stride = 3 * hidden,
                                   .out_stride = hidden,
                                   .q = q,
                                   .k = q + hidden,
                                   .v = q + 2 * hidden,
                                   .scale = shape->scale,
                                   .dropout = job->dropout,
                                   .example = job->dropout ? job->at->examples[token] : 0,
                                   .head = (uint32_t)head};
}

/* Where a unit's first row stands in [n,heads,dim]; in [heads,n]. */
static size_t row_place(const struct attention_shape *shape, size_t sequence, size_t head)
{
    return (shape->offsets[sequence] * shape->n_heads + head) * shape->head_dim;
}

static size_t lse_place(const struct attention_shape *shape, size_t sequence, size_t head)
{
    return head * shape->offsets[shape->n_seqs] + shape->offsets[sequence];
}

static void forward_unit(const struct job *job, size_t sequence, size_t head)
{
    const struct attention_unit unit = unit_make(job, sequence, head);
    float *lse = job->lse ? job->lse + lse_place(job->shape, sequence, head) : NULL;
    job->kernels->forward(&unit, job->out + row_place(job->shape, sequence, head), lse,
                          thread_scratch(job));
}

static void backward_unit(const struct job *job, size_t sequence, size_t head)
{
    const struct attention_unit unit = unit_make(job, sequence, head);
    const size_t row = row_place(job->shape, sequence, head), hidden = unit.out_stride;
    float *dq = job->dqkv + (unit.q - job->qkv);
    job->kernels->backward(&unit, job->saved_out + row,
                           job->saved_lse + lse_place(job->shape, sequence, head), job->dout + row,
                           dq, dq + hidden, dq + 2 * hidden, thread_scratch(job));
}

static void run_units(const struct compute *compute, const struct job *job,
                      void (*run_unit)(const struct job *job, size_t sequence, size_t head))
{
    const size_t n_seqs = job->shape->n_seqs, n_heads = job->shape->n_heads;
    for (size_t first = 0; first < n_seqs; first += SLICE) {
        const size_t n = n_seqs - first < SLICE ? n_seqs - first : SLICE;
        uint32_t order[SLICE];
        sort_by_length(job->shape, first, n, order);
#pragma omp parallel for schedule(dynamic, 1) num_threads(compute->n_threads)
        for (size_t i = 0; i < n * n_heads; i++) {
            if (length(job->shape, order[i / n_heads]) > 0) {
                run_unit(job, order[i / n_heads], i % n_heads);
            }
        }
    }
}

void attention_forward(const struct compute *compute, const struct attention_shape *shape,
                       const struct dropout *dropout, const struct token_addresses *at,
                       const float *qkv, float *out, float *lse, void *scratch)
{
    struct dropout_stream stream;
    const struct job job = {.kernels = &compute->kernels.attention,
                            .shape = shape,
                            .dropout = dropout_begin(dropout, &stream) ? &stream : NULL,
                            .at = at,
                            .qkv = qkv,
                            .out = out,
                            .lse = lse,
                            .scratch = scratch};
    run_units(compute, &job, forward_unit);
}

void attention_backward(const struct compute *compute, const struct attention_shape *shape,
                        const struct dropout *dropout, const struct token_addresses *at,
                        const float *qkv, const float *out, const float *lse, const float *dout,
                        float *dqkv, void *scratch)
{
    struct dropout_stream stream;
    const struct job job = {.kernels = &compute->kernels.attention,
                            .shape = shape,
                            .dropout = dropout_begin(dropout, &stream) ? &stream : NULL,
                            .at = at,
                            .qkv = qkv,
                            .saved_out = out,
                            .saved_lse = lse,
                            .dout = dout,
                            .dqkv = dqkv,
                            .scratch = scratch};
    run_units(compute, &job, backward_unit);
}
