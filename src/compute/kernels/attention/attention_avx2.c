/* Attention at level AVX2: the body of attention_vec.inc. */
#include "compute/kernels/attention/attention_kernels.h"
#include "compute/kernels/vec_avx2.h"

#include "compute/kernels/attention/attention_vec.inc"

void attention_fill_avx2(struct attention_kernels *kernels)
{
    *kernels = (struct attention_kernels){.scratch_floats = scratch_floats,
                                          .scratch_floats_name = "avx2",
                                          .forward = forward,
                                          .forward_name = "avx2",
                                          .backward = backward,
                                          .backward_name = "avx2"};
}
