/* The subset of Python's pickle format in which torch.save writes a dictionary of tensors.
 *
 * Nothing of Python is run: a pickle is a program for a small stack machine, and this machine knows
 * the opcodes and the dozen names that a state dict needs (data, no behaviour). Any other opcode or
 * name ends the reading with an error that names it. */
#ifndef LEARN_FORMAT_TORCH_PICKLE_H
#define LEARN_FORMAT_TORCH_PICKLE_H

#include "learn/format/tensor_info.h"

/* A tensor: a strided view of a storage that stands elsewhere in the archive. */
struct pickled_tensor {
    struct tensor_info info;         /* name: owned by the list */
    size_t strides[TENSOR_MAX_DIMS]; /* in elements */
    size_t offset;                   /* first element in the storage */
    size_t span;                     /* elements from offset to behind the last one of the view */
    char *storage_key;               /* "0": the storage's name; owned by the list */
    size_t storage_elements;
};

struct pickled_tensors {
    struct pickled_tensor *table; /* in the order of the dictionary */
    size_t n_tensors;
};

/* Reads a whole data.pkl of n_bytes. Every view is checked to lie inside its storage's claimed size
 * (the caller checks the claim against the archive). `name` stands for the file in errors. */
yoke_status torch_pickle_read(const unsigned char *bytes, size_t n_bytes, const char *name,
                              struct pickled_tensors *tensors_out) YOKE_MUST_USE;
void pickled_tensors_fini(struct pickled_tensors *tensors);

#endif
