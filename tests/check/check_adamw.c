/* AdamW: every level against plain C over one step. */
#include "check_support.h"

enum { MAX_N = 1031 };

struct outcome {
    float p[MAX_N], m[MAX_N], v[MAX_N];
};

static void update(const struct kernels *kernels, size_t n, size_t shift, float poison,
                   struct outcome *o)
{
    uint64_t seed = n;
    struct check_array g = check_array_make(n, shift), p = check_array_make(n, shift + 1),
                       m = check_array_make(n, shift), v = check_array_make(n, shift + 2);
    check_fill(g.data, n, 1.0f, &seed);
    check_fill(p.data, n, 1.0f, &seed);
    check_fill(m.data, n, 0.1f, &seed);
    check_fill(v.data, n, 0.1f, &seed);
    for (size_t i = 0; i < n; i++) {
        v.data[i] = fabsf(v.data[i]);
    }
    g.data[n / 2] = poison;
    const struct adamw_coefficients coefficients = {.gradient_scale = 0.5f,
                                                    .keep = 0.999f,
                                                    .rate1 = 0.1f,
                                                    .beta2 = 0.999f,
                                                    .rate2 = 0.001f,
                                                    .inverse_root = 10.0f,
                                                    .epsilon = 1e-8f,
                                                    .step_size = 0.01f};
    kernels->adamw.update(&coefficients, n, g.data, p.data, m.data, v.data);
    memcpy(o->p, p.data, n * sizeof *o->p);
    memcpy(o->m, m.data, n * sizeof *o->m);
    memcpy(o->v, v.data, n * sizeof *o->v);
    check_array_end(&g, "gradient");
    check_array_end(&p, "p");
    check_array_end(&m, "m");
    check_array_end(&v, "v");
}

static void levels_agree(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    static const size_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 63, 127, 768, MAX_N};
    const float poisons[] = {0.5f, 0.0f, NAN, INFINITY, 1e-42f};
    static struct outcome want, got;
    struct kernels ref, kernels;
    kernels_fill(&ref, ISA_REF);
    for (size_t level = 0; level < n_levels; level++) {
        kernels_fill(&kernels, levels[level]);
        for (size_t i = 0; i < 11 * 5; i++) {
            const size_t n = sizes[i % 11];
            update(&ref, n, 0, poisons[i / 11], &want);
            update(&kernels, n, i % 3, poisons[i / 11], &got);
            check_close("p", got.p, want.p, n, 1e-6);
            check_close("m", got.m, want.m, n, 1e-6);
            check_close("v", got.v, want.v, n, 1e-6);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
