/* What a model folder's config.json says about the encoder. */
#ifndef LEARN_MODEL_MODEL_CONFIG_H
#define LEARN_MODEL_MODEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"
#include "compute/ops/gelu.h"
#include "learn/format/json.h"

enum model_family { MODEL_DISTILBERT, MODEL_BERT };

struct model_config {
    enum model_family family;
    size_t vocab_size;
    size_t hidden; /* DistilBERT dim, BERT hidden_size */
    size_t n_layers;
    size_t n_heads;      /* divides hidden */
    size_t intermediate; /* hidden_dim, intermediate_size */
    size_t max_positions;
    bool sinusoidal_positions; /* fresh position embeddings are sines (DistilBERT only) */
    size_t n_types;            /* 0 for DistilBERT */
    enum gelu_kind gelu;
    float norm_epsilon; /* 1e-12; BERT: layer_norm_eps */
    float dropout;      /* embeddings and sublayer outputs */
    float attention_dropout;
    float qa_dropout; /* before qa_outputs; 0 for BERT */
    float initializer_range;
    int64_t padding_id;
    json_t *json; /* the whole file: keys we do not know survive a save */
};

/* Reads FOLDER/config.json (or the file itself when `path` is one). A missing key takes the
 * reference's default; a value that the encoder cannot compute (activation relu, relative
 * positions, another model_type) is YOKE_ERR_UNSUPPORTED naming file, key and value. */
yoke_status model_config_read(const char *path, struct model_config *config_out) YOKE_MUST_USE;

/* Writes FOLDER/config.json as the reference saves it: `architecture`
 * ("DistilBertForQuestionAnswering") and dtype set, other keys kept. */
yoke_status model_config_write(const struct model_config *config, const char *architecture,
                               const char *folder) YOKE_MUST_USE;

void model_config_fini(struct model_config *config);

#endif
