/* Sums of table rows at level AVX512: the body of embedding_vec.inc. */
#include "compute/kernels/embedding/embedding_kernels.h"
#include "compute/kernels/vec_avx512.h"

#include "compute/kernels/embedding/embedding_vec.inc"

void embedding_fill_avx512(struct embedding_kernels *kernels)
{
    *kernels = (struct embedding_kernels){
        .sum = sum, .sum_name = "avx512", .add = add, .add_name = "avx512"};
}
