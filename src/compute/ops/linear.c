/* The linear layer over oneDNN's sgemm.
 *
 * Of oneDNN's ways to multiply matrices the BLAS-like call is the right one here. It takes any n
 * without compiling a kernel (the number of tokens changes with every step), adds to what is there
 * (beta = 1: weight gradients, and the bias below), and has the same signature in oneDNN 2.6 and
 * 3.x. Measured in turns at BERT's widths with 3,072 tokens (oneDNN 2.6, one thread, AVX-512), a
 * matmul primitive of that very shape on the same arrays took 1.04 to 1.29 times as long, and 2.4
 * times for the two gradients of the layer from 3,072 to 768; sgemm in blocks of 768 rows took 0.98
 * to 1.23 times as long as in one call.
 *
 * The bias is written into y first and the product added to it, so that y is passed over once
 * beside the product, and only written. Either order took at most 8 % more than the product alone.
 *
 * oneDNN decides by itself how sgemm splits its work; its result for a given number of threads is
 * always the same, for another number the inner sums may be cut differently. */
#include "compute/ops/linear.h"

#include <dnnl.h>
#include <string.h>

#include "compute/ops/slice.h"

static const char *dnnl_status_text(dnnl_status_t status)
{
    static const char *const texts[] = {
        [dnnl_success] = "success",
        [dnnl_out_of_memory] = "out of memory",
        [dnnl_invalid_arguments] = "invalid arguments",
        [dnnl_unimplemented] = "not implemented",
        [dnnl_runtime_error] = "runtime error",
        [dnnl_not_required] = "not required",
    };
    const size_t n = sizeof texts / sizeof *texts;
    return (size_t)status < n && texts[status] ? texts[status] : "unknown status";
}

/* One of the factors: row-major with `stride` floats a row, taken transposed or not. */
struct factor {
    const float *data;
    size_t stride;
    char transposed; /* 'T' or 'N' */
};

/* c[m,n] = a b + beta c, where a is [m,k] and b is [k,n] after transposition. */
static yoke_status multiply(size_t m, size_t n, size_t k, struct factor a, struct factor b,
                            float beta, float *c)
{
    const dnnl_status_t status = dnnl_sgemm(
        a.transposed, b.transposed, (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k, 1.0f, a.data,
        (dnnl_dim_t)a.stride, b.data, (dnnl_dim_t)b.stride, beta, c, (dnnl_dim_t)n);
    if (status != dnnl_success) {
        return yoke_fail(status == dnnl_out_of_memory ? YOKE_ERR_NO_MEMORY : YOKE_ERR_INTERNAL,
                         "matrix product of %zu x %zu x %zu: oneDNN says '%s'", m, n, k,
                         dnnl_status_text(status));
    }
    return YOKE_OK;
}

static void fill_rows(const struct compute *compute, size_t n, size_t width, const float *row,
                      float *y)
{
    const int n_threads = n * width < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (size_t i = 0; i < n; i++) {
        memcpy(y + i * width, row, width * sizeof *y);
    }
}

/* Threads take columns: every sum runs over the rows in one order whatever their number. */
static void add_column_sums(const struct compute *compute, size_t n, size_t width, const float *x,
                            float *sums)
{
    const int n_threads = n * width < SLICE_WORTH ? 1 : compute->n_threads;
#pragma omp parallel for schedule(static) num_threads(n_threads)
    for (int part = 0; part < n_threads; part++) {
        const struct slice cut = slice_of(width, SLICE_LINE, (size_t)part, (size_t)n_threads);
        compute->kernels.reduce.column_sums(n, cut.n, width, x + cut.first, sums + cut.first);
    }
}

yoke_status linear_forward(const struct compute *compute, size_t n, size_t in, size_t out,
                           const float *x, const float *w, const float *b, float *y)
{
    if (b) {
        fill_rows(compute, n, out, b, y);
    }
    return multiply(n, out, in, (struct factor){x, in, 'N'}, (struct factor){w, in, 'T'},
                    b ? 1.0f : 0.0f, y);
}

yoke_status linear_backward_input(const struct compute *compute, size_t n, size_t in, size_t out,
                                  const float *dy, const float *w, int accumulate, float *dx)
{
    (void)compute; /* oneDNN takes the threads that compute_init has set */
    return multiply(n, in, out, (struct factor){dy, out, 'N'}, (struct factor){w, in, 'N'},
                    accumulate ? 1.0f : 0.0f, dx);
}

yoke_status linear_backward_weight(const struct compute *compute, size_t n, size_t in, size_t out,
                                   const float *dy, const float *x, float *dw, float *db)
{
    if (db) {
        add_column_sums(compute, n, out, dy, db);
    }
    return multiply(out, in, n, (struct factor){dy, out, 'T'}, (struct factor){x, in, 'N'}, 1.0f,
                    dw);
}
