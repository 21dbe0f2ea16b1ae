/* The weights of a model folder, whichever of the four forms they have:
 *     model.safetensors, model.safetensors.index.json (several files),
 *     pytorch_model.bin, pytorch_model.bin.index.json (several files);
 * the first that exists counts, as in the reference. */
#ifndef LEARN_FORMAT_TENSOR_SOURCE_H
#define LEARN_FORMAT_TENSOR_SOURCE_H

#include "learn/format/tensor_info.h"

struct tensor_source;

/* YOKE_ERR_NOT_FOUND when the folder has none of the four; YOKE_ERR_FORMAT when an index names a
 * file outside the folder or a tensor that its file lacks, when two files have one name, and for
 * damaged files. */
yoke_status tensor_source_open(const char *folder, struct tensor_source **source_out) YOKE_MUST_USE;
void tensor_source_close(struct tensor_source *source);

/* Tensors are numbered in the byte order of their names. */
size_t tensor_source_count(const struct tensor_source *source);
const struct tensor_info *tensor_source_get(const struct tensor_source *source, size_t index);

/* The number of a name, or SIZE_MAX. */
size_t tensor_source_find(const struct tensor_source *source, const char *name);

/* The file that a tensor lies in, for messages. Borrowed. */
const char *tensor_source_path(const struct tensor_source *source, size_t index);

/* Copies a tensor, row-major and as floats, to out[n_elements]. */
yoke_status tensor_source_copy(const struct tensor_source *source, size_t index,
                               float *out) YOKE_MUST_USE;

#endif
