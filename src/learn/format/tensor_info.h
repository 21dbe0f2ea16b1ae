/* What a weights file says about a tensor, whatever the file's format is. */
#ifndef LEARN_FORMAT_TENSOR_INFO_H
#define LEARN_FORMAT_TENSOR_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"
#include "base/core/str.h"

enum tensor_dtype {
    TENSOR_F64,
    TENSOR_F32,
    TENSOR_F16,
    TENSOR_BF16,
    TENSOR_I64,
    TENSOR_I32,
    TENSOR_I16,
    TENSOR_I8,
    TENSOR_U8,
    TENSOR_BOOL,
    TENSOR_N_DTYPES
};

enum { TENSOR_MAX_DIMS = 8 };

struct tensor_info {
    const char *name; /* UTF-8, borrowed from the file's object */
    enum tensor_dtype dtype;
    size_t n_dims; /* 0: a scalar, one element */
    size_t shape[TENSOR_MAX_DIMS];
    size_t n_elements;
};

/* "F32": the name in safetensors. False for a name outside the list. */
const char *tensor_dtype_name(enum tensor_dtype dtype);
bool tensor_dtype_from_name(const char *name, enum tensor_dtype *dtype_out);
size_t tensor_dtype_bytes(enum tensor_dtype dtype);

/* The product of shape[n_dims] in *n_out; false when n elements of 8 bytes would not fit a signed
 * 64-bit size. */
bool tensor_count(const size_t *shape, size_t n_dims, size_t *n_out);

/* n little-endian elements at `from` (any alignment) as floats: fp64 is rounded, whole numbers are
 * converted. */
void tensor_convert(enum tensor_dtype dtype, const void *from, size_t n, float *to);

/* Appends "[2, 768]". */
yoke_status tensor_print_shape(struct str *out, const size_t *shape, size_t n_dims) YOKE_MUST_USE;

#endif
