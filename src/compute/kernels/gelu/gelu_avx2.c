/* GELU at level AVX2: the body of gelu_vec.inc. */
#include "compute/kernels/gelu/gelu_kernels.h"
#include "compute/kernels/vec_avx2.h"

#include "compute/kernels/gelu/gelu_vec.inc"

void gelu_fill_avx2(struct gelu_kernels *kernels)
{
    *kernels = (struct gelu_kernels){.erf_forward = erf_forward,
                                     .erf_forward_name = "avx2",
                                     .erf_backward = erf_backward,
                                     .erf_backward_name = "avx2",
                                     .tanh_forward = tanh_forward,
                                     .tanh_forward_name = "avx2",
                                     .tanh_backward = tanh_backward,
                                     .tanh_backward_name = "avx2"};
}
