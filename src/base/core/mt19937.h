/* The random stream of torch's CPU generator, so that example orders and fresh weights are the
 * reference's.
 *
 * MT19937 of M. Matsumoto and T. Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), seeded with
 * their init_genrand. */
#ifndef BASE_CORE_MT19937_H
#define BASE_CORE_MT19937_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MT19937_N = 624 };

struct mt19937 {
    uint32_t state[MT19937_N];
    int index;
    bool has_cached_normal; /* the second value of the last pair of the short path */
    double cached_normal;
};

void mt19937_seed(struct mt19937 *mt, uint64_t seed); /* the low 32 bits count, as in torch */
uint32_t mt19937_next(struct mt19937 *mt);

/* torch.randperm(n): order[i] for i in 0..n-1 is a permutation of 0..n-1. */
void mt19937_randperm(struct mt19937 *mt, int64_t n, int64_t *order);

/* tensor.normal_(mean, std) on a contiguous float tensor of n elements: from 16 elements up in
 * blocks of 16 (Box-Muller on 24-bit uniforms), below that one by one in double. */
void mt19937_normal(struct mt19937 *mt, float *x, size_t n, double mean, double std);

#endif
