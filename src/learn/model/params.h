/* The parameters of a model: one flat float array and a table that says which piece is which.
 *
 * The order is the order of use in the forward pass. Query, key and value weights of a layer lie
 * one behind the other, so that they are one [3*hidden, hidden] matrix to the encoder and three
 * named tensors to the files; likewise their biases. Every piece starts on a multiple of 16
 * elements, but key and value, which follow query without a gap. Gaps belong to no piece. */
#ifndef LEARN_MODEL_PARAMS_H
#define LEARN_MODEL_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/mt19937.h"
#include "base/core/status.h"
#include "learn/model/model_config.h"

enum head_kind { HEAD_QA };

enum param_init { PARAM_NORMAL, PARAM_NORMAL_PADDED, PARAM_SINUSOIDAL, PARAM_ZERO, PARAM_ONE };

struct param {
    char name[96];        /* as the reference's state_dict names it, "distilbert.embeddings..." */
    size_t offset;        /* first element in the flat array */
    size_t rows, columns; /* columns = 0 for vectors: `rows` elements */
    bool decays;          /* weight decay applies: neither a bias nor a LayerNorm's */
    enum param_init init;
};

/* Offsets that the encoder uses. Per layer: */
struct layer_params {
    size_t qkv_weight, qkv_bias; /* [3h,h], [3h] */
    size_t out_weight, out_bias; /* [h,h], [h] */
    size_t attention_norm_gamma, attention_norm_beta;
    size_t up_weight, up_bias;     /* [f,h], [f] */
    size_t down_weight, down_bias; /* [h,f], [h] */
    size_t output_norm_gamma, output_norm_beta;
};

struct params {
    enum head_kind head;
    struct param *table;
    size_t n_params;
    size_t n_elements;  /* of the flat array, gaps included */
    size_t n_trainable; /* sum of the tensors' sizes, as the reference counts */
    size_t word_table, position_table, type_table, embedding_norm_gamma, embedding_norm_beta;
    struct layer_params *layers;
    size_t head_weight, head_bias; /* qa_outputs [2,h], [2] */
};

/* The table for a configuration. No array is allocated: values live where the trainer puts them. */
yoke_status params_init(const struct model_config *config, enum head_kind head,
                        struct params *params_out) YOKE_MUST_USE;
void params_fini(struct params *params);

/* Elements of a piece. */
size_t param_size(const struct param *param);

/* What stands before the encoder's names in a model with a head: "distilbert.", "bert.". Static. */
const char *params_prefix(enum model_family family);

/* The reference's class: "DistilBertForQuestionAnswering". Static. */
const char *params_architecture(enum model_family family, enum head_kind head);

/* Draws fresh values as the reference's from_config (transformers 5) does after set_seed(seed):
 * N(0, initializer_range) for matrices, the padding row zero, biases 0, norms 1. The stream is the
 * reference's number for number, unused draws of its constructors included; values agree but for
 * the last digits of logarithm, sine and cosine. Gaps keep what they hold. */
void params_draw(const struct params *params, const struct model_config *config, uint64_t seed,
                 float *values);

/* Draws one piece from the stream as it stands: what the reference does when a file lacks it. */
void params_draw_one(const struct param *param, const struct model_config *config,
                     struct mt19937 *mt, float *values);

/* Loads a model folder's weights into values[n_elements]: model.safetensors, its index,
 * pytorch_model.bin, its index, in this order. Base-model files load into head models (prefix
 * added), gamma/beta names are understood, fp16/bf16/fp64 are converted. Missing tensors are drawn
 * in the table's order from a stream that starts at `seed`, as the reference draws them after
 * set_seed(seed), and reported with the reference's warning ("newly initialized ... You should
 * probably TRAIN"); unexpected ones are reported. A shape that differs is YOKE_ERR_FORMAT naming
 * file, tensor and both shapes; so is a file of which no tensor fits. */
yoke_status params_load(const struct params *params, const struct model_config *config,
                        const char *folder, uint64_t seed, float *values) YOKE_MUST_USE;

/* Writes FOLDER/model.safetensors (metadata format "pt"), whole or not at all. */
yoke_status params_save(const struct params *params, const float *values,
                        const char *folder) YOKE_MUST_USE;

#endif
