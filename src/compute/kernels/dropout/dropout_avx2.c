/* Dropout at level AVX2: the body of dropout_vec.inc. */
#include "compute/kernels/dropout/dropout_kernels.h"
#include "compute/kernels/vec_avx2.h"

#include "compute/kernels/dropout/dropout_vec.inc"

void dropout_fill_avx2(struct dropout_kernels *kernels)
{
    *kernels = (struct dropout_kernels){
        .apply = apply, .apply_name = "avx2", .bits = draw_bits, .bits_name = "avx2"};
}
