/* Self-attention of one (sequence, head), one thread: softmax(scale * q k^T) v and its gradient.
 *
 * Backward recomputes the probabilities from the log-sum-exp that forward saved (T. Dao et al.,
 * "FlashAttention", arXiv:2205.14135, section 3.1). Dropout acts on the probabilities: the mask row
 * of key j is (example, position j, plane = head) and its column is the query, both counted from
 * the start of the sequence, so that one group of bits serves 64 neighbouring queries. */
#ifndef COMPUTE_KERNELS_ATTENTION_KERNELS_H
#define COMPUTE_KERNELS_ATTENTION_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "compute/kernels/dropout/dropout_kernels.h"

enum { ATTENTION_MAX_DIM = 256 };

/* Rows of q, k, v are tokens: [len,dim] with qkv_stride floats from one token to the next. */
struct attention_unit {
    size_t len; /* >= 1 */
    size_t dim; /* 1 .. ATTENTION_MAX_DIM */
    size_t qkv_stride;
    size_t out_stride;
    const float *q, *k, *v;
    float scale;
    const struct dropout_stream *dropout; /* NULL for none */
    uint32_t example, head;               /* address of the masks */
};

struct attention_kernels {
    /* Floats of scratch for sequences up to max_len; scratch is on a 64-byte boundary. */
    size_t (*scratch_floats)(size_t max_len, size_t dim);
    const char *scratch_floats_name;
    /* out[len,dim] (rows out_stride apart); lse[len] may be NULL. */
    void (*forward)(const struct attention_unit *unit, float *out, float *lse, float *scratch);
    const char *forward_name;
    /* dq, dk, dv[len,dim] (written, rows qkv_stride apart) from dout[len,dim] and forward's out,
     * lse (out, dout: rows out_stride apart). */
    void (*backward)(const struct attention_unit *unit, const float *out, const float *lse,
                     const float *dout, float *dq, float *dk, float *dv, float *scratch);
    const char *backward_name;
};

void attention_fill_ref(struct attention_kernels *kernels);
void attention_fill_avx2(struct attention_kernels *kernels);
void attention_fill_avx512(struct attention_kernels *kernels);

#endif
