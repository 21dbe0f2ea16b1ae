/* What the encoder's forward and backward pass share. */
#ifndef LEARN_MODEL_ENCODER_INTERNAL_H
#define LEARN_MODEL_ENCODER_INTERNAL_H

#include "compute/ops/attention.h"
#include "compute/ops/dropout.h"
#include "compute/ops/embedding.h"
#include "compute/ops/layernorm.h"
#include "learn/model/activations.h"
#include "learn/model/encoder.h"

struct encoder {
    const struct model_config *config;
    const struct params *params;
    const struct compute *compute;
    size_t max_tokens, max_seqs, max_len;
    bool training;
    struct activations activations;
};

/* Dropout's sites: part of the address of every mask bit, so their numbers are frozen. */
enum encoder_site_kind { SITE_ATTENTION, SITE_ATTENTION_OUTPUT, SITE_OUTPUT, N_LAYER_SITES };
enum { SITE_EMBEDDING = 0, SITE_HEAD = 1, FIRST_LAYER_SITE = 2 };

static inline uint32_t encoder_site(size_t layer, enum encoder_site_kind kind)
{
    return FIRST_LAYER_SITE + (uint32_t)layer * N_LAYER_SITES + (uint32_t)kind;
}

/* One call of forward or backward. */
struct pass {
    const struct encoder *encoder;
    const float *values;
    const struct batch *batch;
    const struct encoder_dropout *dropout; /* NULL: none */
    struct token_addresses at;
    struct attention_shape shape;
};

struct pass pass_begin(const struct encoder *encoder, const float *values,
                       const struct batch *batch, const struct encoder_dropout *dropout);

/* The dropout of a site in this pass; p = 0 when the pass has none. */
struct dropout pass_dropout(const struct pass *pass, float p, uint32_t site);

/* Behind the attention's output product only BERT drops. */
struct dropout pass_attention_output_dropout(const struct pass *pass, size_t layer);

struct embedding pass_embedding(const struct pass *pass);

#endif
