/* Dropout in plain C: what the other levels must equal bit for bit. */
#include "compute/kernels/dropout/dropout_kernels.h"
#include "compute/kernels/dropout/philox.h"

static void draw_bits(const struct dropout_stream *stream, struct dropout_row row,
                      uint32_t first_group, size_t n_groups, uint64_t *bits_out)
{
    for (size_t g = 0; g < n_groups; g++) {
        bits_out[g] = dropout_bits_scalar(stream, row, first_group + (uint32_t)g);
    }
}

static void apply(const struct dropout_stream *stream, const uint32_t *examples,
                  const uint32_t *positions, size_t n, size_t width, const float *x, float *y)
{
    for (size_t t = 0; t < n; t++) {
        const struct dropout_row row = {examples[t], positions[t], 0};
        uint64_t bits = 0;
        for (size_t c = 0; c < width; c++) {
            if (c % DROPOUT_GROUP == 0) {
                bits = dropout_bits_scalar(stream, row, (uint32_t)(c / DROPOUT_GROUP));
            }
            const size_t i = t * width + c;
            y[i] = bits >> (c % DROPOUT_GROUP) & 1 ? x[i] * stream->scale : 0.0f;
        }
    }
}

void dropout_fill_ref(struct dropout_kernels *kernels)
{
    *kernels = (struct dropout_kernels){
        .apply = apply, .apply_name = "ref", .bits = draw_bits, .bits_name = "ref"};
}
