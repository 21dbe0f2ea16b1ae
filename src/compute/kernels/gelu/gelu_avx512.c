/* GELU at level AVX512: the body of gelu_vec.inc. */
#include "compute/kernels/gelu/gelu_kernels.h"
#include "compute/kernels/vec_avx512.h"

#include "compute/kernels/gelu/gelu_vec.inc"

void gelu_fill_avx512(struct gelu_kernels *kernels)
{
    *kernels = (struct gelu_kernels){.erf_forward = erf_forward,
                                     .erf_forward_name = "avx512",
                                     .erf_backward = erf_backward,
                                     .erf_backward_name = "avx512",
                                     .tanh_forward = tanh_forward,
                                     .tanh_forward_name = "avx512",
                                     .tanh_backward = tanh_backward,
                                     .tanh_backward_name = "avx512"};
}
