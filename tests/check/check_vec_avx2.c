/* The vector vocabulary at level AVX2. */
#include "check_support.h"

#if defined(__x86_64__)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
#include "compute/kernels/vec_avx2.h"

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
    if (isa_detect() < ISA_AVX2) {
        fprintf(stderr, "SKIP: this host has no %s\n", isa_level_name(ISA_AVX2));
        skip();
    }
    all_words();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
