/* A packed batch: the tokens of all sequences one behind the other, with offsets. No padding. */
#ifndef LEARN_MODEL_BATCH_H
#define LEARN_MODEL_BATCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

/* Arrays are owned by the batch and sized for max_tokens and max_seqs. */
struct batch {
    size_t max_tokens, max_seqs;
    size_t n_tokens, n_seqs;
    size_t max_len;       /* the longest sequence in it now */
    uint32_t *offsets;    /* [n_seqs+1] */
    uint32_t *ids;        /* [n_tokens] */
    uint32_t *positions;  /* [n_tokens] */
    uint8_t *types;       /* [n_tokens] */
    uint32_t *examples;   /* [n_tokens] number of the example in its data set: dropout's address */
    uint32_t *starts;     /* [n_seqs] targets of question answering */
    uint32_t *ends;       /* [n_seqs] */
};

yoke_status batch_init(struct batch *batch, size_t max_tokens, size_t max_seqs) YOKE_MUST_USE;
void batch_fini(struct batch *batch);
void batch_clear(struct batch *batch);

/* Appends a sequence of `n` tokens; types may be NULL (all 0). Room must be there (asserted). */
void batch_add(struct batch *batch, uint32_t example, size_t n, const uint32_t *ids,
               const uint8_t *types, uint32_t start, uint32_t end);

#endif
