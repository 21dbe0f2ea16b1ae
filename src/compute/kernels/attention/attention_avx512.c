/* Attention at level AVX512: the body of attention_vec.inc. */
#include "compute/kernels/attention/attention_kernels.h"
#include "compute/kernels/vec_avx512.h"

#include "compute/kernels/attention/attention_vec.inc"

void attention_fill_avx512(struct attention_kernels *kernels)
{
    *kernels = (struct attention_kernels){.scratch_floats = scratch_floats,
                                          .scratch_floats_name = "avx512",
                                          .forward = forward,
                                          .forward_name = "avx512",
                                          .backward = backward,
                                          .backward_name = "avx512"};
}
