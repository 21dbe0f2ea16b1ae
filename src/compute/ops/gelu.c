/* GELU over all threads. */
#include "compute/ops/gelu.h"

#include "compute/ops/slice.h"

void gelu_forward(const struct compute *compute, enum gelu_kind kind, size_t n, const float *h,
                  float *y)
{
    const struct gelu_kernels *kernels = &compute->kernels.gelu;
    gelu_forward_kernel *kernel = kind == GELU_TANH ? kernels->tanh_forward : kernels->erf_forward;
    const int n_threads = n < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int part = 0; part < n_threads; part++) {
        const struct slice cut = slice_of(n, SLICE_LINE, (size_t)part, (size_t)n_threads);
        kernel(cut.n, h + cut.first, y + cut.first);
    }
}

void gelu_backward(const struct compute *compute, enum gelu_kind kind, size_t n, const float *h,
                   const float *dy, float *dh)
{
    const struct gelu_kernels *kernels = &compute->kernels.gelu;
    gelu_backward_kernel *kernel =
        kind == GELU_TANH ? kernels->tanh_backward : kernels->erf_backward;
    const int n_threads = n < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int part = 0; part < n_threads; part++) {
        const struct slice cut = slice_of(n, SLICE_LINE, (size_t)part, (size_t)n_threads);
        kernel(cut.n, h + cut.first, dy + cut.first, dh + cut.first);
    }
}
