/* Sums of table rows, one thread. */
#ifndef COMPUTE_KERNELS_EMBEDDING_KERNELS_H
#define COMPUTE_KERNELS_EMBEDDING_KERNELS_H

#include <stddef.h>

struct embedding_kernels {
    /* x[n] = word[n] + position[n] + type[n]; type may be NULL. */
    void (*sum)(size_t n, const float *word, const float *position, const float *type, float *x);
    const char *sum_name;
    /* y[n] += x[n] */
    void (*add)(size_t n, const float *x, float *y);
    const char *add_name;
};

void embedding_fill_ref(struct embedding_kernels *kernels);
void embedding_fill_avx2(struct embedding_kernels *kernels);
void embedding_fill_avx512(struct embedding_kernels *kernels);

#endif
