/* The vector vocabulary at level AVX512: 16 floats. Its twin vec_avx2.h has the same words with 8.
 *
 * A body written in these words (a file <op>_vec.inc) compiles at both levels. Types: vf is a
 * vector of VF_WIDTH floats; vm a mask with one truth per float; vw a vector of VW_WIDTH 64-bit
 * lanes whose low halves hold one 32-bit word each (the shape that 32x32-bit products want). Loads
 * and stores need no alignment. Only files with the suffix _avx512 include this header. */
#ifndef COMPUTE_KERNELS_VEC_AVX512_H
#define COMPUTE_KERNELS_VEC_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define VF_WIDTH 16
#define VW_WIDTH 8
/* Accumulators of a product tile (rows times vectors): 28 + 2 + 1 of 32 registers. */
#define VF_TILE_ROWS 14

typedef __m512 vf;
typedef __mmask16 vm;
typedef __m512i vw;

/* --- memory --- */
static inline vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline void vf_store(float *p, vf v)
{
    _mm512_storeu_ps(p, v);
}

/* The mask of the first n floats, n <= VF_WIDTH. */
static inline vm vm_first(size_t n)
{
    return (vm)((1u << n) - 1u);
}

/* The first n <= VF_WIDTH floats, zeros behind; memory beyond them is not touched. */
static inline vf vf_load_n(const float *p, size_t n)
{
    return _mm512_maskz_loadu_ps(vm_first(n), p);
}

static inline void vf_store_n(float *p, size_t n, vf v)
{
    _mm512_mask_storeu_ps(p, vm_first(n), v);
}

/* --- arithmetic --- */
static inline vf vf_set1(float x)
{
    return _mm512_set1_ps(x);
}

static inline vf vf_zero(void)
{
    return _mm512_setzero_ps();
}

static inline vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}

static inline vf vf_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}

static inline vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}

static inline vf vf_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}

/* a * b + c, rounded once. */
static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* c - a * b, rounded once. */
static inline vf vf_fnma(vf a, vf b, vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

static inline vf vf_sqrt(vf a)
{
    return _mm512_sqrt_ps(a);
}

/* When one of a and b is not a number: b. */
static inline vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

static inline vf vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}

static inline vf vf_abs(vf a)
{
    return _mm512_abs_ps(a);
}

/* To the nearest whole number, ties to even. */
static inline vf vf_round(vf a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* a * 2^n for whole n in [-252, 254]. */
static inline vf vf_scale2(vf a, vf n)
{
    return _mm512_scalef_ps(a, n);
}

/* Of a positive normal float: a = vf_mantissa(a) * 2^vf_exponent(a), 1 <= mantissa < 2. */
static inline vf vf_exponent(vf a)
{
    return _mm512_getexp_ps(a);
}

static inline vf vf_mantissa(vf a)
{
    return _mm512_getmant_ps(a, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
}

/* --- masks --- */
static inline vm vf_less(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

/* Bit i of `bits` (the lowest VF_WIDTH count) becomes truth i. */
static inline vm vm_from_bits(uint32_t bits)
{
    return (vm)bits;
}

/* a where the mask is true, else b. */
static inline vf vf_select(vm mask, vf a, vf b)
{
    return _mm512_mask_blend_ps(mask, b, a);
}

/* v where the mask is true, else 0. */
static inline vf vf_keep(vm mask, vf v)
{
    return _mm512_maskz_mov_ps(mask, v);
}

/* --- across lanes --- */
static inline float vf_sum(vf v)
{
    return _mm512_reduce_add_ps(v);
}

/* The four 4x4 blocks on the 128-bit lanes of rows r0..r3, transposed in place. */
static inline void transpose_in_lanes(vf *r0, vf *r1, vf *r2, vf *r3)
{
    const vf a = _mm512_unpacklo_ps(*r0, *r1), b = _mm512_unpackhi_ps(*r0, *r1);
    const vf c = _mm512_unpacklo_ps(*r2, *r3), d = _mm512_unpackhi_ps(*r2, *r3);
    *r0 = _mm512_shuffle_ps(a, c, 0x44);
    *r1 = _mm512_shuffle_ps(a, c, 0xee);
    *r2 = _mm512_shuffle_ps(b, d, 0x44);
    *r3 = _mm512_shuffle_ps(b, d, 0xee);
}

/* Lane l of r0..r3 goes to lane 0..3 of r_l: the same step on 128-bit pieces. */
static inline void transpose_lanes(vf *r0, vf *r1, vf *r2, vf *r3)
{
    const vf a = _mm512_shuffle_f32x4(*r0, *r1, 0x44), b = _mm512_shuffle_f32x4(*r0, *r1, 0xee);
    const vf c = _mm512_shuffle_f32x4(*r2, *r3, 0x44), d = _mm512_shuffle_f32x4(*r2, *r3, 0xee);
    *r0 = _mm512_shuffle_f32x4(a, c, 0x88);
    *r1 = _mm512_shuffle_f32x4(a, c, 0xdd);
    *r2 = _mm512_shuffle_f32x4(b, d, 0x88);
    *r3 = _mm512_shuffle_f32x4(b, d, 0xdd);
}

/* The square of VF_WIDTH rows, transposed in place. */
static inline void vf_transpose(vf rows[VF_WIDTH])
{
    for (int i = 0; i < 16; i += 4) {
        transpose_in_lanes(rows + i, rows + i + 1, rows + i + 2, rows + i + 3);
    }
    for (int i = 0; i < 4; i++) {
        transpose_lanes(rows + i, rows + i + 4, rows + i + 8, rows + i + 12);
    }
}

/* --- 32-bit words in 64-bit lanes; what stands in the high halves is not defined --- */
static inline vw vw_set1(uint32_t word)
{
    return _mm512_set1_epi32((int)word);
}

/* base, base + 1, ... */
static inline vw vw_count_from(uint32_t base)
{
    return _mm512_add_epi32(_mm512_set1_epi64((int64_t)(uint64_t)base),
                            _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The 64-bit products of the words: the low half is the product's low word. */
static inline vw vw_product(vw a, vw b)
{
    return _mm512_mul_epu32(a, b);
}

/* The high word of a product, as a word. */
static inline vw vw_high(vw product)
{
    return _mm512_srli_epi64(product, 32);
}

static inline vw vw_xor3(vw a, vw b, vw c)
{
    return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

/* Full lanes: word a in the low half, word b in the high half. */
static inline vw vw_join(vw a, vw b)
{
    return _mm512_mask_blend_epi32(0xaaaa, a, _mm512_slli_epi64(b, 32));
}

/* One bit per 16-bit piece of full lanes, 4 * VW_WIDTH in all: piece >= threshold (< 65536). */
static inline uint32_t vw_pieces_at_least(vw lanes, uint32_t threshold)
{
    return _mm512_cmpge_epu16_mask(lanes, _mm512_set1_epi16((short)threshold));
}

#include "compute/kernels/vec_math.inc"

#endif
