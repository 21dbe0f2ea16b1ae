/* Dropout at level AVX512: the body of dropout_vec.inc. */
#include "compute/kernels/dropout/dropout_kernels.h"
#include "compute/kernels/vec_avx512.h"

#include "compute/kernels/dropout/dropout_vec.inc"

void dropout_fill_avx512(struct dropout_kernels *kernels)
{
    *kernels = (struct dropout_kernels){
        .apply = apply, .apply_name = "avx512", .bits = draw_bits, .bits_name = "avx512"};
}
