/* LayerNorm at level AVX2: the body of layernorm_vec.inc. */
#include "compute/kernels/layernorm/layernorm_kernels.h"
#include "compute/kernels/vec_avx2.h"

#include "compute/kernels/layernorm/layernorm_vec.inc"

void layernorm_fill_avx2(struct layernorm_kernels *kernels)
{
    *kernels = (struct layernorm_kernels){
        .forward = forward, .forward_name = "avx2", .backward = backward, .backward_name = "avx2"};
}
