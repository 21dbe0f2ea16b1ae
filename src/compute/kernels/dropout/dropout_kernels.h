/* Dropout masks by address, one thread.
 *
 * The bits of a mask come in rows. A row is named by (example, position, plane); its columns are
 * cut into groups of 64, and group g of a row is one 64-bit word whose bit c says whether column 64
 * g + c is kept. A stream (made by dropout_begin of compute/ops) holds what the rows of one site in
 * one training step share. Every level draws the same bits. */
#ifndef COMPUTE_KERNELS_DROPOUT_KERNELS_H
#define COMPUTE_KERNELS_DROPOUT_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Seven rounds of Philox-4x32 are the fewest that pass BigCrush (Salmon et al., SC'11, table 2);
 * dropout needs no more. */
enum { DROPOUT_ROUNDS = 7, DROPOUT_GROUP = 64 };

struct dropout_stream {
    uint32_t round_keys[DROPOUT_ROUNDS][2];
    uint32_t threshold; /* of 65536: 16-bit draws below it are zeroed; p is represented to 2^-17 */
    float scale;        /* of what is kept: 1 / (1 - threshold / 65536) */
};

struct dropout_row {
    uint32_t example, position;
    uint32_t
        plane; /* 0, or what else tells rows of one position apart, such as an attention head */
};

struct dropout_kernels {
    /* y[n,width] = mask * scale * x, y may be x; row t is (examples[t], positions[t], plane 0). */
    void (*apply)(const struct dropout_stream *stream, const uint32_t *examples,
                  const uint32_t *positions, size_t n, size_t width, const float *x, float *y);
    const char *apply_name;
    /* bits_out[n_groups]: groups first_group .. first_group + n_groups - 1 of a row. */
    void (*bits)(const struct dropout_stream *stream, struct dropout_row row, uint32_t first_group,
                 size_t n_groups, uint64_t *bits_out);
    const char *bits_name;
};

void dropout_fill_ref(struct dropout_kernels *kernels);
void dropout_fill_avx2(struct dropout_kernels *kernels);
void dropout_fill_avx512(struct dropout_kernels *kernels);

#endif
