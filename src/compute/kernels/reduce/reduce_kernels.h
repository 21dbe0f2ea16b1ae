/* Sums of arrays, one thread. The order of every sum depends on the sizes alone. */
#ifndef COMPUTE_KERNELS_REDUCE_KERNELS_H
#define COMPUTE_KERNELS_REDUCE_KERNELS_H

#include <stddef.h>

struct reduce_kernels {
    /* sums[width] += sum over n rows of x, whose rows are `stride` floats apart. */
    void (*column_sums)(size_t n, size_t width, size_t stride, const float *x, float *sums);
    const char *column_sums_name;
    /* The sum of x[i]^2. Squares are floats (infinite from |x| = 1.9e19), long sums are doubles. */
    double (*sum_squares)(size_t n, const float *x);
    const char *sum_squares_name;
};

void reduce_fill_ref(struct reduce_kernels *kernels);
void reduce_fill_avx2(struct reduce_kernels *kernels);
void reduce_fill_avx512(struct reduce_kernels *kernels);

#endif
