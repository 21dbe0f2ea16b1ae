/* The vector vocabulary at level AVX2 (with FMA): 8 floats. vec_avx512.h documents the words; both
 * headers define the same ones. Only files with the suffix _avx2 include this header. */
#ifndef COMPUTE_KERNELS_VEC_AVX2_H
#define COMPUTE_KERNELS_VEC_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define VF_WIDTH 8
#define VW_WIDTH 4
/* Accumulators of a product tile (rows times vectors): 12 + 2 + 1 of 16 registers. */
#define VF_TILE_ROWS 6

typedef __m256 vf;
typedef __m256 vm; /* all bits of a lane set or clear */
typedef __m256i vw;

/* --- memory --- */
static inline vf vf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

static inline void vf_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v);
}

static inline vm vm_first(size_t n)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), lane));
}

static inline vf vf_load_n(const float *p, size_t n)
{
    return _mm256_maskload_ps(p, _mm256_castps_si256(vm_first(n)));
}

static inline void vf_store_n(float *p, size_t n, vf v)
{
    _mm256_maskstore_ps(p, _mm256_castps_si256(vm_first(n)), v);
}

/* --- arithmetic --- */
static inline vf vf_set1(float x)
{
    return _mm256_set1_ps(x);
}

static inline vf vf_zero(void)
{
    return _mm256_setzero_ps();
}

static inline vf vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}

static inline vf vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}

static inline vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}

static inline vf vf_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}

static inline vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

static inline vf vf_fnma(vf a, vf b, vf c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

static inline vf vf_sqrt(vf a)
{
    return _mm256_sqrt_ps(a);
}

static inline vf vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}

static inline vf vf_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}

static inline vf vf_abs(vf a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}

static inline vf vf_round(vf a)
{
    return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 2^n for whole n in [-126, 127], from the bits of the exponent. */
static inline vf power_of_two(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

/* In two factors, for 2^n itself may be too large or too small for a float. */
static inline vf vf_scale2(vf a, vf n)
{
    const __m256i whole = _mm256_cvtps_epi32(n);
    const __m256i half = _mm256_srai_epi32(whole, 1);
    return _mm256_mul_ps(_mm256_mul_ps(a, power_of_two(half)),
                         power_of_two(_mm256_sub_epi32(whole, half)));
}

static inline vf vf_exponent(vf a)
{
    const __m256i biased = _mm256_srli_epi32(_mm256_castps_si256(a), 23);
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(biased, _mm256_set1_epi32(127)));
}

static inline vf vf_mantissa(vf a)
{
    const vf fraction = _mm256_and_ps(a, _mm256_castsi256_ps(_mm256_set1_epi32(0x007fffff)));
    return _mm256_or_ps(fraction, _mm256_set1_ps(1.0f));
}

/* --- masks --- */
static inline vm vf_less(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

static inline vm vm_from_bits(uint32_t bits)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i found = _mm256_and_si256(_mm256_set1_epi32((int)bits), bit);
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(found, bit));
}

static inline vf vf_select(vm mask, vf a, vf b)
{
    return _mm256_blendv_ps(b, a, mask);
}

static inline vf vf_keep(vm mask, vf v)
{
    return _mm256_and_ps(mask, v);
}

/* --- across lanes --- */
static inline float vf_sum(vf v)
{
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

/* The two 4x4 blocks on the 128-bit lanes of rows r[0..3], transposed in place. */
static inline void transpose_in_lanes(vf r[4])
{
    const vf a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
    const vf c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
    r[0] = _mm256_shuffle_ps(a, c, 0x44);
    r[1] = _mm256_shuffle_ps(a, c, 0xee);
    r[2] = _mm256_shuffle_ps(b, d, 0x44);
    r[3] = _mm256_shuffle_ps(b, d, 0xee);
}

static inline void vf_transpose(vf rows[VF_WIDTH])
{
    transpose_in_lanes(rows);
    transpose_in_lanes(rows + 4);
    for (int i = 0; i < 4; i++) {
        const vf a = rows[i], b = rows[i + 4];
        rows[i] = _mm256_permute2f128_ps(a, b, 0x20);
        rows[i + 4] = _mm256_permute2f128_ps(a, b, 0x31);
    }
}

/* --- 32-bit words in 64-bit lanes --- */
static inline vw vw_set1(uint32_t word)
{
    return _mm256_set1_epi32((int)word);
}

static inline vw vw_count_from(uint32_t base)
{
    return _mm256_add_epi32(_mm256_set1_epi64x((int64_t)(uint64_t)base),
                            _mm256_setr_epi64x(0, 1, 2, 3));
}

static inline vw vw_product(vw a, vw b)
{
    return _mm256_mul_epu32(a, b);
}

static inline vw vw_high(vw product)
{
    return _mm256_srli_epi64(product, 32);
}

static inline vw vw_xor3(vw a, vw b, vw c)
{
    return _mm256_xor_si256(_mm256_xor_si256(a, b), c);
}

static inline vw vw_join(vw a, vw b)
{
    return _mm256_blend_epi32(a, _mm256_slli_epi64(b, 32), 0xaa);
}

/* AVX2 has no unsigned comparison: x >= t exactly when max(x, t) == x. */
static inline uint32_t vw_pieces_at_least(vw lanes, uint32_t threshold)
{
    const vw larger = _mm256_max_epu16(lanes, _mm256_set1_epi16((short)threshold));
    const vw bytes = _mm256_packs_epi16(_mm256_cmpeq_epi16(larger, lanes), _mm256_setzero_si256());
    const uint32_t bits = (uint32_t)_mm256_movemask_epi8(bytes);
    return (bits & 0xffu) | (bits >> 8 & 0xff00u);
}

#include "compute/kernels/vec_math.inc"

#endif
