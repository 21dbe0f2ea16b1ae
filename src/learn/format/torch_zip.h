/* pytorch_model.bin as torch.save writes it since version 1.6: a zip archive with a pickle
 * ("data.pkl") that describes the tensors and one member of raw bytes per storage ("data/KEY"). The
 * pickle is read by torch_pickle.h: no code of the file is run. */
#ifndef LEARN_FORMAT_TORCH_ZIP_H
#define LEARN_FORMAT_TORCH_ZIP_H

#include "learn/format/tensor_info.h"

struct torch_zip;

/* Maps a file and reads its description. YOKE_ERR_FORMAT for anything that is not a state dict,
 * with the fault; files of older versions of torch are YOKE_ERR_UNSUPPORTED and told how to be
 * saved again. */
yoke_status torch_zip_open(const char *path, struct torch_zip **file_out) YOKE_MUST_USE;

/* The same over borrowed memory that outlives the object; `name` stands for the path in errors. */
yoke_status torch_zip_open_memory(const void *data, size_t n_bytes, const char *name,
                                  struct torch_zip **file_out) YOKE_MUST_USE;
void torch_zip_close(struct torch_zip *file);

size_t torch_zip_count(const struct torch_zip *file);

/* Tensor `index`, in the order of the dictionary. Borrowed. */
const struct tensor_info *torch_zip_get(const struct torch_zip *file, size_t index);

/* Copies tensor `index` row-major and as floats to out[n_elements], whatever its strides are. One
 * thread at a time per file. */
yoke_status torch_zip_copy(struct torch_zip *file, size_t index, float *out) YOKE_MUST_USE;

#endif
