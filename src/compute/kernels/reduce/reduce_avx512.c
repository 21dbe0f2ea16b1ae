/* Sums at level AVX512: the body of reduce_vec.inc. */
#include "compute/kernels/reduce/reduce_kernels.h"
#include "compute/kernels/vec_avx512.h"

#include "compute/kernels/reduce/reduce_vec.inc"

void reduce_fill_avx512(struct reduce_kernels *kernels)
{
    *kernels = (struct reduce_kernels){.column_sums = column_sums,
                                       .column_sums_name = "avx512",
                                       .sum_squares = sum_squares,
                                       .sum_squares_name = "avx512"};
}
