/* Sums at level AVX2: the body of reduce_vec.inc. */
#include "compute/kernels/reduce/reduce_kernels.h"
#include "compute/kernels/vec_avx2.h"

#include "compute/kernels/reduce/reduce_vec.inc"

void reduce_fill_avx2(struct reduce_kernels *kernels)
{
    *kernels = (struct reduce_kernels){.column_sums = column_sums,
                                       .column_sums_name = "avx2",
                                       .sum_squares = sum_squares,
                                       .sum_squares_name = "avx2"};
}
