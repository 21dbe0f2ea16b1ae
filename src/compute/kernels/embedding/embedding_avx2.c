/* Sums of table rows at level AVX2: the body of embedding_vec.inc. */
#include "compute/kernels/embedding/embedding_kernels.h"
#include "compute/kernels/vec_avx2.h"

#include "compute/kernels/embedding/embedding_vec.inc"

void embedding_fill_avx2(struct embedding_kernels *kernels)
{
    *kernels =
        (struct embedding_kernels){.sum = sum, .sum_name = "avx2", .add = add, .add_name = "avx2"};
}
