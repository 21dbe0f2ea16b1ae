/* One step of AdamW over an array, one thread. */
#ifndef COMPUTE_KERNELS_ADAMW_KERNELS_H
#define COMPUTE_KERNELS_ADAMW_KERNELS_H

#include <stddef.h>

/* What is the same for all elements of a step, computed in double from the settings. */
struct adamw_coefficients {
    float gradient_scale;
    float keep;         /* 1 - lr wd */
    float rate1;        /* 1 - beta1 */
    float beta2, rate2; /* beta2 and 1 - beta2 */
    float inverse_root; /* 1 / sqrt(1 - beta2^t) */
    float epsilon;
    float step_size; /* lr / (1 - beta1^t) */
};

struct adamw_kernels {
    /* With g = gradient_scale * gradient: m += rate1 (g - m); v = beta2 v + rate2 g^2;
     * p = keep p - step_size m / (inverse_root sqrt(v) + epsilon). */
    void (*update)(const struct adamw_coefficients *coefficients, size_t n, const float *gradient,
                   float *p, float *m, float *v);
    const char *update_name;
};

void adamw_fill_ref(struct adamw_kernels *kernels);
void adamw_fill_avx2(struct adamw_kernels *kernels);
void adamw_fill_avx512(struct adamw_kernels *kernels);

#endif
