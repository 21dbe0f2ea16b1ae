/* What the kernel checks share: repeatable data, arrays between guard zones, comparison, levels. */
#ifndef TESTS_CHECK_SUPPORT_H
#define TESTS_CHECK_SUPPORT_H

#include "support.h"

#include <math.h>
#include <time.h>

#include "compute/kernels/kernels.h"

/* Numbers in [-1, 1) by splitmix64 (G. Steele et al., OOPSLA 2014); the seed is the whole state. */
static inline float check_float(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (float)((z ^ z >> 31) >> 40) * 0x1p-23f - 1.0f;
}

static inline void check_fill(float *x, size_t n, float amplitude, uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = amplitude * check_float(seed);
    }
}

/* A pattern that no kernel computes: a signalling not-a-number with a payload. */
enum { CHECK_GUARD_FLOATS = 64, CHECK_GUARD_BITS = 0x7fa5c3a5 };

static inline void check_guard_fill(float *x, size_t n)
{
    const uint32_t bits = CHECK_GUARD_BITS;
    for (size_t i = 0; i < n; i++) {
        memcpy(x + i, &bits, sizeof bits);
    }
}

static inline int check_is_guard(const float *x)
{
    const uint32_t bits = CHECK_GUARD_BITS;
    return memcmp(x, &bits, sizeof bits) == 0;
}

/* n floats, all guards, between guard zones; `shift` floats off a 64-byte boundary. */
struct check_array {
    float *block, *data;
    size_t n_block, n;
};

static inline struct check_array check_array_make(size_t n, size_t shift)
{
    const size_t n_block = (2 * CHECK_GUARD_FLOATS + shift + n + 15) / 16 * 16;
    struct check_array array = {
        .block = aligned_alloc(64, n_block * sizeof(float)), .n_block = n_block, .n = n};
    assert_non_null(array.block);
    check_guard_fill(array.block, n_block);
    array.data = array.block + CHECK_GUARD_FLOATS + shift;
    return array;
}

/* Fails when something outside data[n] was written; frees. */
static inline void check_array_end(struct check_array *array, const char *what)
{
    for (size_t i = 0; i < array->n_block; i++) {
        const float *at = array->block + i;
        if ((at < array->data || at >= array->data + array->n) && !check_is_guard(at)) {
            fail_msg("%s: wrote %td floats from its start, %zu long", what, at - array->data,
                     array->n);
        }
    }
    free(array->block);
}

/* |got - want| <= tolerance * largest |want| for all n; not-a-number wants not-a-number. */
static inline void check_close(const char *what, const float *got, const float *want, size_t n,
                               double tolerance)
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        largest = isfinite(want[i]) ? fmax(largest, fabs((double)want[i])) : largest;
    }
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)got[i] - (double)want[i]);
        if (isnan(want[i]) ? !isnan(got[i])
                           : !(error <= tolerance * largest || got[i] == want[i])) {
            fail_msg("%s: [%zu] of %zu is %.9g, wanted %.9g (error %.3g, allowed %.3g)", what, i, n,
                     (double)got[i], (double)want[i], error, tolerance * largest);
        }
    }
}

/* The levels above REF for which a kernel of the project exists and that this host has. */
static inline size_t check_levels(enum isa_level levels[2])
{
    size_t n = 0;
    for (enum isa_level level = ISA_AVX2; level <= ISA_AVX512; level++) {
        if (level <= isa_detect()) {
            levels[n++] = level;
        } else {
            fprintf(stderr, "SKIP level %s: not on this host\n", isa_level_name(level));
        }
    }
    return n;
}

static inline double check_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
