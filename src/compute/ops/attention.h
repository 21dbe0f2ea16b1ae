/* Multi-head self-attention on packed sequences: softmax(scale * q k^T) v within each sequence.
 *
 * A score block stays in cache; scores never reach memory as a whole and no sequence is padded.
 * Only the log-sum-exp of each row is kept, and backward recomputes the probabilities (T. Dao et
 * al., arXiv:2205.14135). Work is split by (sequence, head). */
#ifndef COMPUTE_OPS_ATTENTION_H
#define COMPUTE_OPS_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

#include "compute/ops/compute.h"
#include "compute/ops/dropout.h"

struct attention_shape {
    size_t n_seqs;
    const uint32_t *offsets; /* [n_seqs+1]: tokens of sequence s are offsets[s] .. offsets[s+1]-1 */
    size_t max_len;          /* the longest sequence, for sizing scratch */
    size_t n_heads;
    size_t head_dim; /* any from 1 to 256 */
    float scale;
};

/* qkv[n,3,heads,dim] -> out[n,heads,dim], lse[heads,n] (may be NULL for evaluation). Dropout (may
 * be NULL) acts on the probabilities; a bit's address is the example of the sequence's first token,
 * the head, and the places of query and key in their sequence. scratch: attention_scratch(...)
 * bytes on a 64-byte boundary. The result does not depend on the number of threads. */
void attention_forward(const struct compute *compute, const struct attention_shape *shape,
                       const struct dropout *dropout, const struct token_addresses *at,
                       const float *qkv, float *out, float *lse, void *scratch);

/* dqkv[n,3,heads,dim] (written) from dout[n,heads,dim] and the forward's qkv, out, lse. */
void attention_backward(const struct compute *compute, const struct attention_shape *shape,
                        const struct dropout *dropout, const struct token_addresses *at,
                        const float *qkv, const float *out, const float *lse, const float *dout,
                        float *dqkv, void *scratch);

size_t attention_scratch(const struct compute *compute, size_t max_len, size_t head_dim);

#endif
