/* MT19937 and the two recipes drawn from it: permutations and normals. */
#include "base/core/mt19937.h"

#include <math.h>

enum { M = 397 };

void mt19937_seed(struct mt19937 *mt, uint64_t seed)
{
    mt->state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < MT19937_N; i++) {
        const uint32_t previous = mt->state[i - 1];
        mt->state[i] = 1812433253u * (previous ^ (previous >> 30)) + i;
    }
    mt->index = MT19937_N;
    mt->has_cached_normal = false;
    mt->cached_normal = 0.0;
}

static void refill(struct mt19937 *mt)
{
    uint32_t *s = mt->state;
    for (int i = 0; i < MT19937_N; i++) {
        const uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % MT19937_N] & 0x7fffffffu);
        s[i] = s[(i + M) % MT19937_N] ^ (y >> 1) ^ (y & 1u ? 0x9908b0dfu : 0u);
    }
    mt->index = 0;
}

uint32_t mt19937_next(struct mt19937 *mt)
{
    if (mt->index >= MT19937_N) {
        refill(mt);
    }
    uint32_t y = mt->state[mt->index++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

void mt19937_randperm(struct mt19937 *mt, int64_t n, int64_t *order)
{
    for (int64_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (int64_t i = 0; i < n - 1; i++) {
        const int64_t j = i + (int64_t)(mt19937_next(mt) % (uint64_t)(n - i));
        const int64_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static const double two_pi = 6.283185307179586476925286766559;

/* 16 uniforms become 16 normals in place: element j pairs with element j + 8. */
static void normal_block(float *x, float mean, float std)
{
    for (int j = 0; j < 8; j++) {
        const float u1 = 1.0f - x[j]; /* (0, 1]: the logarithm is finite */
        const float u2 = x[j + 8];
        const float radius = sqrtf(-2.0f * logf(u1));
        const float theta = (float)two_pi * u2;
        x[j] = radius * cosf(theta) * std + mean;
        x[j + 8] = radius * sinf(theta) * std + mean;
    }
}

static float uniform24(struct mt19937 *mt)
{
    return (float)(mt19937_next(mt) & 0xffffffu) * 0x1p-24f;
}

static double uniform53(struct mt19937 *mt)
{
    const uint64_t high = mt19937_next(mt);
    const uint64_t low = mt19937_next(mt);
    return (double)((high << 32 | low) & ((1ull << 53) - 1)) * 0x1p-53;
}

static double normal_one(struct mt19937 *mt)
{
    if (mt->has_cached_normal) {
        mt->has_cached_normal = false;
        return mt->cached_normal;
    }
    const double u1 = uniform53(mt);
    const double u2 = uniform53(mt);
    const double radius = sqrt(-2.0 * log1p(-u2));
    mt->cached_normal = radius * sin(two_pi * u1);
    mt->has_cached_normal = true;
    return radius * cos(two_pi * u1);
}

void mt19937_normal(struct mt19937 *mt, float *x, size_t n, double mean, double std)
{
    if (n < 16) {
        for (size_t i = 0; i < n; i++) {
            x[i] = (float)(normal_one(mt) * std + mean);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = uniform24(mt);
    }
    for (size_t i = 0; i + 16 <= n; i += 16) {
        normal_block(x + i, (float)mean, (float)std);
    }
    if (n % 16 != 0) { /* the last 16 are drawn again, whole */
        float *tail = x + n - 16;
        for (int j = 0; j < 16; j++) {
            tail[j] = uniform24(mt);
        }
        normal_block(tail, (float)mean, (float)std);
    }
}
