/* safetensors files: named tensors behind a JSON header (github.com/huggingface/safetensors,
 * "Format").
 *
 *     8 bytes    length N of the header, little-endian
 *     N bytes    {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
 *                "__metadata__": {"format": "pt"}}, padded with blanks
 *     the rest   the tensors' bytes, row-major, one behind the other without gaps
 */
#ifndef LEARN_FORMAT_SAFETENSORS_H
#define LEARN_FORMAT_SAFETENSORS_H

#include "learn/format/tensor_info.h"

struct safetensors;

/* Maps a file and checks all of its header: types, shapes, sizes, every byte of the data claimed
 * exactly once. YOKE_ERR_FORMAT names file, tensor and fault; YOKE_ERR_UNSUPPORTED a type outside
 * tensor_dtype. */
yoke_status safetensors_open(const char *path, struct safetensors **file_out) YOKE_MUST_USE;

/* The same over borrowed memory that outlives the object; `name` stands for the path in errors. */
yoke_status safetensors_open_memory(const void *data, size_t n_bytes, const char *name,
                                    struct safetensors **file_out) YOKE_MUST_USE;
void safetensors_close(struct safetensors *file);

size_t safetensors_count(const struct safetensors *file);

/* Tensor `index`, in the order of the data. Borrowed. */
const struct tensor_info *safetensors_get(const struct safetensors *file, size_t index);

/* The index of a name, or SIZE_MAX. */
size_t safetensors_find(const struct safetensors *file, const char *name);

/* The tensor's bytes in the mapping, little-endian, of any alignment. Borrowed. */
const void *safetensors_data(const struct safetensors *file, size_t index);

/* A tensor to write: n_elements of `info` at `data`. */
struct safetensors_item {
    struct tensor_info info;
    const void *data;
};

/* Writes n_items tensors in this order with the metadata {"format": "pt"}, which the reference
 * wants to see. Whole or not at all; nothing is held in memory but the header. */
yoke_status safetensors_write(const char *path, const struct safetensors_item *items,
                              size_t n_items) YOKE_MUST_USE;

/* A tensor_info of these dimensions (dim1 = 0: a vector of dim0). */
struct tensor_info safetensors_info(const char *name, enum tensor_dtype dtype, size_t dim0,
                                    size_t dim1);

#endif
