/* Philox-4x32, the counter-based generator (J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel
 * random numbers: as easy as 1, 2, 3", SC'11): four words from a counter of four words and a key of
 * two. */
#ifndef COMPUTE_KERNELS_PHILOX_H
#define COMPUTE_KERNELS_PHILOX_H

#include <stdint.h>

#include "compute/kernels/dropout/dropout_kernels.h"

#define PHILOX_MULTIPLIER_0 0xd2511f53u
#define PHILOX_MULTIPLIER_1 0xcd9e8d57u
#define PHILOX_WEYL_0 0x9e3779b9u
#define PHILOX_WEYL_1 0xbb67ae85u

/* round_keys[r] = key + r * (Weyl constants). */
static inline void philox_round_keys(uint32_t key0, uint32_t key1, int n_rounds,
                                     uint32_t (*round_keys)[2])
{
    for (int r = 0; r < n_rounds; r++) {
        round_keys[r][0] = key0 + (uint32_t)r * PHILOX_WEYL_0;
        round_keys[r][1] = key1 + (uint32_t)r * PHILOX_WEYL_1;
    }
}

/* words[4] holds the counter and receives the random words. */
static inline void philox(const uint32_t (*round_keys)[2], int n_rounds, uint32_t words[4])
{
    for (int r = 0; r < n_rounds; r++) {
        const uint64_t product0 = (uint64_t)PHILOX_MULTIPLIER_0 * words[0];
        const uint64_t product1 = (uint64_t)PHILOX_MULTIPLIER_1 * words[2];
        words[0] = (uint32_t)(product1 >> 32) ^ words[1] ^ round_keys[r][0];
        words[1] = (uint32_t)product1;
        words[2] = (uint32_t)(product0 >> 32) ^ words[3] ^ round_keys[r][1];
        words[3] = (uint32_t)product0;
    }
}

/* One group of a row, in plain C: the definition of the mask. Counter 8 group + l (l = 0..7) gives
 * eight 16-bit draws: words 0 and 1 serve columns 4 l .. 4 l + 3, words 2 and 3 those 32 further
 * on. This order is what a vector of 64-bit lanes yields without a shuffle. */
static inline uint64_t dropout_bits_scalar(const struct dropout_stream *stream,
                                           struct dropout_row row, uint32_t group)
{
    uint64_t bits = 0;
    for (uint32_t lane = 0; lane < 8; lane++) {
        uint32_t words[4] = {group * 8 + lane, row.plane, row.position, row.example};
        philox(stream->round_keys, DROPOUT_ROUNDS, words);
        for (uint32_t piece = 0; piece < 8; piece++) {
            const uint32_t draw = words[piece / 2] >> (16 * (piece % 2)) & 0xffffu;
            const uint32_t column = 32 * (piece / 4) + 4 * lane + piece % 4;
            bits |= (uint64_t)(draw >= stream->threshold) << column;
        }
    }
    return bits;
}

#endif
