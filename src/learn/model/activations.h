/* Where the activations of a batch live: one arena, laid out once for the largest batch.
 *
 * For training every layer keeps what its backward pass reads: 3h (q, k, v) + h (context) + 4h (two norms: output
 * and normalised input) + f (before GELU) floats a token. GELU's output is recomputed. For evaluation all
 * layers share one set. T tokens, h hidden, f intermediate, H heads. */
#ifndef LEARN_MODEL_ACTIVATIONS_H
#define LEARN_MODEL_ACTIVATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/core/arena.h"
#include "compute/ops/compute.h"
#include "learn/model/model_config.h"

/* A LayerNorm's result and what its gradient needs (NULL for evaluation). */
struct norm_activations {
    float *y;    /* [T,h] */
    float *xhat; /* [T,h] */
    float *rstd; /* [T] */
};

struct layer_activations {
    float *qkv;     /* [T,3h] */
    float *context; /* [T,h] the attention's output */
    float *lse;     /* [H,T] log-sum-exp of the scores; NULL for evaluation */
    float *up;      /* [T,f] before GELU */
    struct norm_activations attention_norm, output_norm;
};

struct activations {
    struct arena arena;
    struct norm_activations embedding;
    struct layer_activations *layers;
    float *sublayer;   /* [T,h] a sublayer's output, and a gradient of that shape */
    float *wide;       /* [T, max(f, 4h)] GELU's output; gradients of up, or of context and qkv */
    void *op_scratch;  /* attention and LayerNorm */
};

yoke_status activations_init(struct activations *activations, const struct model_config *config,
                             const struct compute *compute, size_t max_tokens, size_t max_len,
                             bool training) YOKE_MUST_USE;
void activations_fini(struct activations *activations);

#endif
