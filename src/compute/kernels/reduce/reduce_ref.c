/* Sums in plain C. */
#include "compute/kernels/reduce/reduce_kernels.h"

static void column_sums(size_t n, size_t width, size_t stride, const float *x, float *sums)
{
    for (size_t c = 0; c < width; c++) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += x[i * stride + c];
        }
        sums[c] = (float)(sums[c] + sum);
    }
}

static double sum_squares(size_t n, const float *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

void reduce_fill_ref(struct reduce_kernels *kernels)
{
    *kernels = (struct reduce_kernels){.column_sums = column_sums,
                                       .column_sums_name = "ref",
                                       .sum_squares = sum_squares,
                                       .sum_squares_name = "ref"};
}
