/* Attention in plain loops with double accumulators: the definition, and the fallback of hosts
 * without vectors. One query at a time; the masks of the unit are drawn first, for a group of bits
 * serves 64 queries of one key. */
#include <math.h>

#include "compute/kernels/attention/attention_kernels.h"
#include "compute/kernels/dropout/philox.h"

/* Of one unit, carved from scratch. */
struct frame {
    double *p, *dp;  /* [len] of the current query */
    double *dk, *dv; /* [len,dim] */
    uint64_t *bits;  /* [len,n_groups] */
    size_t n_groups;
};

static size_t group_count(size_t len)
{
    return (len + DROPOUT_GROUP - 1) / DROPOUT_GROUP;
}

static size_t scratch_floats(size_t max_len, size_t dim)
{
    const size_t n_doubles = 2 * max_len + 2 * max_len * dim + max_len * group_count(max_len);
    return 2 * n_doubles;
}

static struct frame frame_make(const struct attention_unit *unit, float *scratch)
{
    const size_t len = unit->len;
    struct frame f = {.p = (double *)(void *)scratch, .n_groups = group_count(len)};
    f.dp = f.p + len;
    f.dk = f.dp + len;
    f.dv = f.dk + len * unit->dim;
    f.bits = (uint64_t *)(void *)(f.dv + len * unit->dim);
    for (size_t j = 0; unit->dropout && j < len; j++) {
        const struct dropout_row row = {unit->example, (uint32_t)j, unit->head};
        for (size_t g = 0; g < f.n_groups; g++) {
            f.bits[j * f.n_groups + g] = dropout_bits_scalar(unit->dropout, row, (uint32_t)g);
        }
    }
    return f;
}

/* 0 or the scale of what is kept, of the probability of (query i, key j). */
static double factor(const struct attention_unit *unit, const struct frame *f, size_t i, size_t j)
{
    if (!unit->dropout) {
        return 1.0;
    }
    const uint64_t bits = f->bits[j * f->n_groups + i / DROPOUT_GROUP];
    return bits >> (i % DROPOUT_GROUP) & 1 ? (double)unit->dropout->scale : 0.0;
}

static double dot(const float *a, const float *b, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)a[i] * (double)b[i];
    }
    return sum;
}

/* p[len] = scale * q_i . k_j; returns the largest. */
static double scores(const struct attention_unit *unit, size_t i, double *p)
{
    double largest = -INFINITY;
    for (size_t j = 0; j < unit->len; j++) {
        p[j] = (double)unit->scale *
               dot(unit->q + i * unit->qkv_stride, unit->k + j * unit->qkv_stride, unit->dim);
        largest = fmax(largest, p[j]);
    }
    return largest;
}

static void forward(const struct attention_unit *unit, float *out, float *lse, float *scratch)
{
    const struct frame f = frame_make(unit, scratch);
    for (size_t i = 0; i < unit->len; i++) {
        const double largest = scores(unit, i, f.p);
        double sum = 0.0, row[ATTENTION_MAX_DIM] = {0};
        for (size_t j = 0; j < unit->len; j++) {
            const double p = exp(f.p[j] - largest), kept = p * factor(unit, &f, i, j);
            sum += p;
            for (size_t c = 0; c < unit->dim; c++) {
                row[c] += kept * (double)unit->v[j * unit->qkv_stride + c];
            }
        }
        for (size_t c = 0; c < unit->dim; c++) {
            out[i * unit->out_stride + c] = (float)(row[c] / sum);
        }
        if (lse) {
            lse[i] = (float)(largest + log(sum));
        }
    }
}

/* Query i: its dq row, and its share of dk and dv. With P the kept and scaled probabilities,
 * dS = p * (factor * dout v^T - rowsum(dout * out)). */
static void backward_query(const struct attention_unit *unit, const struct frame *f, size_t i,
                           const float *out, double lse, const float *dout, float *dq)
{
    const double total = dot(dout, out, unit->dim);
    double row[ATTENTION_MAX_DIM] = {0};
    scores(unit, i, f->p);
    for (size_t j = 0; j < unit->len; j++) {
        const float *k = unit->k + j * unit->qkv_stride, *v = unit->v + j * unit->qkv_stride;
        const double p = exp(f->p[j] - lse), keep = factor(unit, f, i, j);
        const double ds = p * (keep * dot(dout, v, unit->dim) - total) * (double)unit->scale;
        for (size_t c = 0; c < unit->dim; c++) {
            row[c] += ds * (double)k[c];
            f->dk[j * unit->dim + c] += ds * (double)unit->q[i * unit->qkv_stride + c];
            f->dv[j * unit->dim + c] += p * keep * (double)dout[c];
        }
    }
    for (size_t c = 0; c < unit->dim; c++) {
        dq[c] = (float)row[c];
    }
}

static void backward(const struct attention_unit *unit, const float *out, const float *lse,
                     const float *dout, float *dq, float *dk, float *dv, float *scratch)
{
    const struct frame f = frame_make(unit, scratch);
    for (size_t i = 0; i < unit->len * unit->dim; i++) {
        f.dk[i] = f.dv[i] = 0.0;
    }
    for (size_t i = 0; i < unit->len; i++) {
        backward_query(unit, &f, i, out + i * unit->out_stride, (double)lse[i],
                       dout + i * unit->out_stride, dq + i * unit->qkv_stride);
    }
    for (size_t j = 0; j < unit->len; j++) {
        for (size_t c = 0; c < unit->dim; c++) {
            dk[j * unit->qkv_stride + c] = (float)f.dk[j * unit->dim + c];
            dv[j * unit->qkv_stride + c] = (float)f.dv[j * unit->dim + c];
        }
    }
}

void attention_fill_ref(struct attention_kernels *kernels)
{
    *kernels = (struct attention_kernels){.scratch_floats = scratch_floats,
                                          .scratch_floats_name = "ref",
                                          .forward = forward,
                                          .forward_name = "ref",
                                          .backward = backward,
                                          .backward_name = "ref"};
}
