/* The vector vocabulary at level AVX512. */
#include "check_support.h"

#if defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
#endif
#include "compute/kernels/vec_avx512.h"

#include "vec_words.inc"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#else
static void all_words(void)
{
}
#endif

static void words(void **state)
{
    (void)state;
    if (isa_detect() < ISA_AVX512) {
        fprintf(stderr, "SKIP: this host has no %s\n", isa_level_name(ISA_AVX512));
        skip();
    }
    all_words();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
