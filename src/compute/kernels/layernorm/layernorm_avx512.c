/* LayerNorm at level AVX512: the body of layernorm_vec.inc. */
#include "compute/kernels/layernorm/layernorm_kernels.h"
#include "compute/kernels/vec_avx512.h"

#include "compute/kernels/layernorm/layernorm_vec.inc"

void layernorm_fill_avx512(struct layernorm_kernels *kernels)
{
    *kernels = (struct layernorm_kernels){.forward = forward,
                                          .forward_name = "avx512",
                                          .backward = backward,
                                          .backward_name = "avx512"};
}
