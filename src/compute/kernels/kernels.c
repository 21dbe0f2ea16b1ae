/* The table of kernels, filled level by level. */
#include "compute/kernels/kernels.h"

void kernels_fill(struct kernels *kernels, enum isa_level cap)
{
#define FILL_REF(op) op##_fill_ref(&kernels->op);
    KERNELS_LIST(FILL_REF)
#if defined(__x86_64__)
#define FILL_AVX2(op) op##_fill_avx2(&kernels->op);
#define FILL_AVX512(op) op##_fill_avx512(&kernels->op);
    if (cap >= ISA_AVX2) {
        KERNELS_LIST(FILL_AVX2)
    }
    if (cap >= ISA_AVX512) {
        KERNELS_LIST(FILL_AVX512)
    }
#else
    (void)cap;
#endif
}
