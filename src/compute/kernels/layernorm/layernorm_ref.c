/* LayerNorm in plain C, sums in double. */
#include "compute/kernels/layernorm/layernorm_kernels.h"

#include <math.h>

#include "compute/kernels/dropout/philox.h"

/* 0 or the scale for column c of a token; `bits` carries the group's draws to the next column. */
static float dropout_factor(const struct dropout_stream *dropout, struct dropout_row row, size_t c,
                            uint64_t *bits)
{
    if (c % DROPOUT_GROUP == 0) {
        *bits = dropout_bits_scalar(dropout, row, (uint32_t)(c / DROPOUT_GROUP));
    }
    return *bits >> (c % DROPOUT_GROUP) & 1 ? dropout->scale : 0.0f;
}

/* s[width] = residual + dropout(x) of row t; the bits decide, not the factor, so that a dropped
 * infinity leaves a zero. */
static void sum_row(const struct layernorm_forward_rows *rows, size_t t, float *s)
{
    const size_t width = rows->width;
    const float *x = rows->x + t * width;
    const float *residual = rows->residual ? rows->residual + t * width : NULL;
    uint64_t bits = 0;
    for (size_t c = 0; c < width; c++) {
        float value = x[c];
        if (rows->dropout) {
            const struct dropout_row row = {rows->examples[t], rows->positions[t], 0};
            const float factor = dropout_factor(rows->dropout, row, c, &bits);
            value = factor > 0.0f ? value * factor : 0.0f;
        }
        s[c] = residual ? residual[c] + value : value;
    }
}

static void forward(const struct layernorm_forward_rows *rows)
{
    const size_t width = rows->width;
    for (size_t t = 0; t < rows->n; t++) {
        float *y = rows->y + t * width;
        float *xhat = rows->xhat ? rows->xhat + t * width : y;
        sum_row(rows, t, xhat);
        double sum = 0.0, squares = 0.0;
        for (size_t c = 0; c < width; c++) {
            sum += xhat[c];
        }
        const double mean = sum / (double)width;
        for (size_t c = 0; c < width; c++) {
            squares += (xhat[c] - mean) * (xhat[c] - mean);
        }
        const double rstd = 1.0 / sqrt(squares / (double)width + rows->eps);
        for (size_t c = 0; c < width; c++) {
            const float normalised = (float)((xhat[c] - mean) * rstd);
            xhat[c] = normalised;
            y[c] = rows->gamma[c] * normalised + rows->beta[c];
        }
        if (rows->rstd) {
            rows->rstd[t] = (float)rstd;
        }
    }
}

static void backward(const struct layernorm_backward_rows *rows)
{
    const size_t width = rows->width;
    for (size_t t = 0; t < rows->n; t++) {
        const float *dy = rows->dy + t * width, *xhat = rows->xhat + t * width;
        double sum = 0.0, product = 0.0;
        for (size_t c = 0; c < width; c++) {
            const double g = (double)dy[c] * rows->gamma[c];
            sum += g;
            product += g * xhat[c];
            rows->dgamma[c] += dy[c] * xhat[c];
            rows->dbeta[c] += dy[c];
        }
        const double mean = sum / (double)width, slope = product / (double)width;
        uint64_t bits = 0;
        for (size_t c = 0; c < width; c++) {
            const double g = (double)dy[c] * rows->gamma[c];
            const float ds = (float)(rows->rstd[t] * (g - mean - xhat[c] * slope));
            if (rows->dresidual) {
                float *d = rows->dresidual + t * width + c;
                *d = rows->accumulate_residual ? *d + ds : ds;
            }
            if (rows->dx) {
                const struct dropout_row row = {rows->dropout ? rows->examples[t] : 0,
                                                rows->dropout ? rows->positions[t] : 0, 0};
                const float factor =
                    rows->dropout ? dropout_factor(rows->dropout, row, c, &bits) : 1.0f;
                rows->dx[t * width + c] = factor > 0.0f ? ds * factor : 0.0f;
            }
        }
    }
}

void layernorm_fill_ref(struct layernorm_kernels *kernels)
{
    *kernels = (struct layernorm_kernels){
        .forward = forward, .forward_name = "ref", .backward = backward, .backward_name = "ref"};
}
