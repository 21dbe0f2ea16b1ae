/* The table of kernels: one member per op, filled from REF upwards, a higher level over-writing what it
 * has. A table is a value; several of different levels may exist side by side (tests build all).
 *
 * A kernel is one thread's work on raw pointers: no allocation, no log, no threads, no status. The
 * functions of compute/ops check arguments, own scratch and split the work.
 *
 * An op is a folder kernels/<op>/ with <op>_kernels.h (its struct: slots, each with the name of the
 * level that filled it) and one file per level (<op>_ref.c, <op>_avx2.c, <op>_avx512.c) that exports
 * nothing but <op>_fill_<level>(); bodies that compile at several levels stand in <op>_vec.inc. */
#ifndef COMPUTE_KERNELS_KERNELS_H
#define COMPUTE_KERNELS_KERNELS_H

#include "compute/kernels/adamw/adamw_kernels.h"
#include "compute/kernels/attention/attention_kernels.h"
#include "compute/kernels/dropout/dropout_kernels.h"
#include "compute/kernels/embedding/embedding_kernels.h"
#include "compute/kernels/gelu/gelu_kernels.h"
#include "compute/kernels/layernorm/layernorm_kernels.h"
#include "compute/kernels/reduce/reduce_kernels.h"
#include "machine/isa/isa.h"

/* X(op): an op's folder, the prefix of its struct and of its fill functions. */
#define KERNELS_LIST(X)                                                                            \
    X(adamw) X(attention) X(dropout) X(embedding) X(gelu) X(layernorm) X(reduce)

struct kernels {
#define KERNELS_MEMBER(op) struct op##_kernels op;
    KERNELS_LIST(KERNELS_MEMBER)
#undef KERNELS_MEMBER
};

/* Fills *kernels with the best kernels up to `cap`. The host must have that level (isa_choose). */
void kernels_fill(struct kernels *kernels, enum isa_level cap);

#endif
