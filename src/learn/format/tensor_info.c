/* Element types of weights files and their conversion to float. */
#include "learn/format/tensor_info.h"

#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} dtypes[TENSOR_N_DTYPES] = {
    [TENSOR_F64] = {"F64", 8},   [TENSOR_F32] = {"F32", 4}, [TENSOR_F16] = {"F16", 2},
    [TENSOR_BF16] = {"BF16", 2}, [TENSOR_I64] = {"I64", 8}, [TENSOR_I32] = {"I32", 4},
    [TENSOR_I16] = {"I16", 2},   [TENSOR_I8] = {"I8", 1},   [TENSOR_U8] = {"U8", 1},
    [TENSOR_BOOL] = {"BOOL", 1},
};

const char *tensor_dtype_name(enum tensor_dtype dtype)
{
    return dtypes[dtype].name;
}

bool tensor_dtype_from_name(const char *name, enum tensor_dtype *dtype_out)
{
    for (int i = 0; i < TENSOR_N_DTYPES; i++) {
        if (strcmp(name, dtypes[i].name) == 0) {
            *dtype_out = (enum tensor_dtype)i;
            return true;
        }
    }
    return false;
}

size_t tensor_dtype_bytes(enum tensor_dtype dtype)
{
    return dtypes[dtype].bytes;
}

bool tensor_count(const size_t *shape, size_t n_dims, size_t *n_out)
{
    size_t n = 1;
    bool empty = false;
    for (size_t i = 0; i < n_dims; i++) {
        if (shape[i] == 0) {
            empty = true;
        } else if (__builtin_mul_overflow(n, shape[i], &n) || n > INT64_MAX / 8) {
            return false;
        }
    }
    *n_out = empty ? 0 : n;
    return true;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16 to binary32, exact; NaN payloads keep their upper bits. */
static float half_to_float(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = (half >> 10) & 0x1fu;
    const uint32_t mantissa = half & 0x3ffu;
    if (exponent == 0) { /* zero or subnormal: mantissa * 2^-24 */
        const float magnitude = (float)mantissa * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    const uint32_t wide = exponent == 0x1fu ? 0xffu : exponent + 127 - 15;
    return from_bits(sign | wide << 23 | mantissa << 13);
}

/* One loop per type; memcpy because the bytes may lie anywhere. */
#define CONVERT(type, expression)                                                                  \
    for (size_t i = 0; i < n; i++) {                                                               \
        type x;                                                                                    \
        memcpy(&x, bytes + i * sizeof x, sizeof x);                                                \
        to[i] = (expression);                                                                      \
    }                                                                                              \
    break

void tensor_convert(enum tensor_dtype dtype, const void *from, size_t n, float *to)
{
    const unsigned char *bytes = from;
    switch (dtype) {
    case TENSOR_F64:
        CONVERT(double, (float)x);
    case TENSOR_F32:
        if (n > 0) {
            memcpy(to, from, n * sizeof *to);
        }
        break;
    case TENSOR_F16:
        CONVERT(uint16_t, half_to_float(x));
    case TENSOR_BF16:
        CONVERT(uint16_t, from_bits((uint32_t)x << 16));
    case TENSOR_I64:
        CONVERT(int64_t, (float)x);
    case TENSOR_I32:
        CONVERT(int32_t, (float)x);
    case TENSOR_I16:
        CONVERT(int16_t, x);
    case TENSOR_I8:
        CONVERT(int8_t, x);
    case TENSOR_U8:
        CONVERT(uint8_t, x);
    case TENSOR_BOOL:
        CONVERT(uint8_t, x != 0 ? 1.0f : 0.0f);
    case TENSOR_N_DTYPES:
        break;
    }
}

yoke_status tensor_print_shape(struct str *out, const size_t *shape, size_t n_dims)
{
    YOKE_TRY(str_append(out, "[", 1));
    for (size_t i = 0; i < n_dims; i++) {
        YOKE_TRY(str_printf(out, "%s%zu", i > 0 ? ", " : "", shape[i]));
    }
    return str_append(out, "]", 1);
}
