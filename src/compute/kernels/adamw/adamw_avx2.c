/* AdamW at level AVX2: the body of adamw_vec.inc. */
#include "compute/kernels/adamw/adamw_kernels.h"
#include "compute/kernels/vec_avx2.h"

#include "compute/kernels/adamw/adamw_vec.inc"

void adamw_fill_avx2(struct adamw_kernels *kernels)
{
    *kernels = (struct adamw_kernels){.update = update, .update_name = "avx2"};
}
