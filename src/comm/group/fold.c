/* One loop a type and reduction, over blocks that stay in the L1 cache.
 *
 * The block is gathered in a local array: `out` may be one of the sources, and an array that cannot
 * overlap anything lets the compiler use vectors. */
#include "comm/group/fold.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK_BYTES = 4096 };

typedef void fold_function(void *into, const void *x, size_t n);

#define FOLD(name, type, expression)                                                               \
    static void name(void *into, const void *x, size_t n)                                          \
    {                                                                                              \
        type *restrict a = into;                                                                   \
        const type *restrict b = x;                                                                \
        for (size_t i = 0; i < n; i++) {                                                           \
            a[i] = (type)(expression);                                                             \
        }                                                                                          \
    }

FOLD(sum_float32, float, a[i] + b[i])
FOLD(min_float32, float, b[i] < a[i] ? b[i] : a[i])
FOLD(max_float32, float, b[i] > a[i] ? b[i] : a[i])
FOLD(sum_float64, double, a[i] + b[i])
FOLD(min_float64, double, b[i] < a[i] ? b[i] : a[i])
FOLD(max_float64, double, b[i] > a[i] ? b[i] : a[i])
FOLD(sum_int64, int64_t, (uint64_t)a[i] + (uint64_t)b[i])
FOLD(min_int64, int64_t, b[i] < a[i] ? b[i] : a[i])
FOLD(max_int64, int64_t, b[i] > a[i] ? b[i] : a[i])
FOLD(sum_uint8, uint8_t, a[i] + b[i])
FOLD(min_uint8, uint8_t, b[i] < a[i] ? b[i] : a[i])
FOLD(max_uint8, uint8_t, b[i] > a[i] ? b[i] : a[i])

struct fold_type {
    const char *name;
    size_t bytes;
    fold_function *functions[3]; /* by yoke_reduction */
};

static const struct fold_type types[] = {
    [YOKE_FLOAT32] = {"float32", 4, {sum_float32, min_float32, max_float32}},
    [YOKE_FLOAT64] = {"float64", 8, {sum_float64, min_float64, max_float64}},
    [YOKE_INT64] = {"int64", 8, {sum_int64, min_int64, max_int64}},
    [YOKE_UINT8] = {"uint8", 1, {sum_uint8, min_uint8, max_uint8}},
};
enum { N_TYPES = sizeof types / sizeof *types };

static const char *const reduction_names[] = {
    [YOKE_SUM] = "sum", [YOKE_MIN] = "min", [YOKE_MAX] = "max"};
enum { N_REDUCTIONS = sizeof reduction_names / sizeof *reduction_names };

size_t fold_type_bytes(yoke_datatype type)
{
    return (unsigned)type < N_TYPES ? types[type].bytes : 0;
}

const char *fold_type_name(yoke_datatype type)
{
    return (unsigned)type < N_TYPES ? types[type].name : "unknown";
}

const char *fold_reduction_name(yoke_reduction reduction)
{
    return (unsigned)reduction < N_REDUCTIONS ? reduction_names[reduction] : "unknown";
}

void fold_sources(yoke_datatype type, yoke_reduction reduction, void *out,
                  const void *const *sources, int n, size_t count)
{
    _Alignas(64) unsigned char block[BLOCK_BYTES];
    const size_t total = count * types[type].bytes;
    for (size_t at = 0; at < total; at += BLOCK_BYTES) {
        const size_t bytes = total - at < BLOCK_BYTES ? total - at : BLOCK_BYTES;
        memcpy(block, (const unsigned char *)sources[0] + at, bytes);
        for (int r = 1; r < n; r++) {
            types[type].functions[reduction](block, (const unsigned char *)sources[r] + at,
                                             bytes / types[type].bytes);
        }
        memcpy((unsigned char *)out + at, block, bytes);
    }
}
