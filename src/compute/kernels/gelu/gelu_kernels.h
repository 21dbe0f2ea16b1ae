/* GELU and its derivative over an array, one thread: the erf form h Phi(h) (Phi the normal
 * distribution function) and its approximation by tanh. Not-a-number stays not-a-number. */
#ifndef COMPUTE_KERNELS_GELU_KERNELS_H
#define COMPUTE_KERNELS_GELU_KERNELS_H

#include <stddef.h>

/* sqrt(2 / pi) and the cubic coefficient of the tanh form (Hendrycks and Gimpel, section 2). */
#define GELU_TANH_LINEAR 0.79788456080286536
#define GELU_TANH_CUBIC 0.044715

typedef void gelu_forward_kernel(size_t n, const float *h, float *y); /* y may be h */
typedef void gelu_backward_kernel(size_t n, const float *h, const float *dy,
                                  float *dh); /* dh may be dy */

struct gelu_kernels {
    gelu_forward_kernel *erf_forward;
    const char *erf_forward_name;
    gelu_backward_kernel *erf_backward;
    const char *erf_backward_name;
    gelu_forward_kernel *tanh_forward;
    const char *tanh_forward_name;
    gelu_backward_kernel *tanh_backward;
    const char *tanh_backward_name;
};

void gelu_fill_ref(struct gelu_kernels *kernels);
void gelu_fill_avx2(struct gelu_kernels *kernels);
void gelu_fill_avx512(struct gelu_kernels *kernels);

#endif
