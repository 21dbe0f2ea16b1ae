/* GELU: plain C against the definition in double, every level against plain C. `--bench`: times. */
#include "check_support.h"

typedef void kernel_call(const struct gelu_kernels *kernels, size_t n, const float *h,
                         const float *dy, float *result);

static void erf_forward(const struct gelu_kernels *k, size_t n, const float *h, const float *dy,
                        float *r)
{
    (void)dy;
    k->erf_forward(n, h, r);
}

static void erf_backward(const struct gelu_kernels *k, size_t n, const float *h, const float *dy,
                         float *r)
{
    k->erf_backward(n, h, dy, r);
}

static void tanh_forward(const struct gelu_kernels *k, size_t n, const float *h, const float *dy,
                         float *r)
{
    (void)dy;
    k->tanh_forward(n, h, r);
}

static void tanh_backward(const struct gelu_kernels *k, size_t n, const float *h, const float *dy,
                          float *r)
{
    k->tanh_backward(n, h, dy, r);
}

/* Allowed error: absolute + relative * |value|. The derivatives cross zero near -0.75, where only
 * the absolute part counts; the tail of the tanh form has an exponent with a rounding error of its
 * own. */
static const struct {
    const char *name;
    kernel_call *call;
    double absolute, relative;
} calls[] = {
    {"erf_forward", erf_forward, 1e-37, 6e-7},
    {"erf_backward", erf_backward, 2e-7, 5e-7},
    {"tanh_forward", tanh_forward, 1e-37, 2e-5},
    {"tanh_backward", tanh_backward, 2e-7, 5e-7},
};
enum { N_CALLS = sizeof calls / sizeof *calls };

static void expect_near(size_t call, const float *h, const float *got, const float *want, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double error = fabs((double)got[i] - (double)want[i]);
        const double allowed = calls[call].absolute + calls[call].relative * fabs((double)want[i]);
        if (isnan(want[i]) ? !isnan(got[i]) : !(error <= allowed || got[i] == want[i])) {
            fail_msg("%s(%.9g) is %.9g, wanted %.9g (error %.3g, allowed %.3g)", calls[call].name,
                     (double)h[i], (double)got[i], (double)want[i], error, allowed);
        }
    }
}

/* The definitions, written differently from the kernels: erf and tanh themselves. */
static double definition(size_t call, double h)
{
    const double root = 0.79788456080286536, u = root * (h + 0.044715 * h * h * h);
    const double du = root * (1.0 + 3.0 * 0.044715 * h * h);
    const double phi = 0.5 * (1.0 + erf(h / 1.4142135623730951));
    switch (call) {
    case 0:
        return h * phi;
    case 1:
        return phi + h * exp(-0.5 * h * h) * 0.39894228040143268;
    case 2:
        return 0.5 * h * (1.0 + tanh(u));
    default:
        return 0.5 * (1.0 + tanh(u)) + 0.5 * h * (1.0 - tanh(u) * tanh(u)) * du;
    }
}

static void ref_is_the_definition(void **state)
{
    (void)state;
    struct kernels ref;
    kernels_fill(&ref, ISA_REF);
    for (size_t call = 0; call < N_CALLS; call++) {
        for (int i = -4000; i <= 4000; i++) {
            const float h = (float)i / 400.0f, one = 1.0f;
            float got;
            calls[call].call(&ref.gelu, 1, &h, &one, &got);
            assert_true(fabs((double)got - definition(call, (double)h)) <= 6e-7);
        }
    }
}

/* One level over n values between guards, the destination apart, or (in_place) over a source. */
static void run(const struct kernels *kernels, size_t call, const float *h, size_t n, size_t shift,
                int in_place, float *result_out)
{
    uint64_t seed = n;
    struct check_array x = check_array_make(n, shift), dy = check_array_make(n, shift),
                       r = check_array_make(n, shift);
    for (size_t i = 0; i < n; i++) {
        x.data[i] = h[i];
    }
    check_fill(dy.data, n, 2.0f, &seed);
    float *to = !in_place ? r.data : call % 2 ? dy.data : x.data;
    calls[call].call(&kernels->gelu, n, x.data, dy.data, to);
    memcpy(result_out, to, n * sizeof *to);
    check_array_end(&x, "h");
    check_array_end(&dy, "dy");
    check_array_end(&r, "result");
}

enum { MAX_N = 3072 };

static void levels_agree(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    static const size_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 31, 33, 127, 1009, MAX_N};
    static const float amplitudes[] = {0.01f, 1.0f, 6.0f, 20.0f};
    static float h[MAX_N], want[MAX_N], got[MAX_N];
    struct kernels ref, kernels;
    kernels_fill(&ref, ISA_REF);
    for (size_t level = 0; level < n_levels; level++) {
        kernels_fill(&kernels, levels[level]);
        for (size_t i = 0; i < N_CALLS * 12 * 4; i++) {
            const size_t call = i % N_CALLS, n = sizes[i / N_CALLS % 12];
            uint64_t seed = i;
            check_fill(h, n, amplitudes[i / N_CALLS / 12], &seed);
            run(&ref, call, h, n, 0, 0, want);
            run(&kernels, call, h, n, i % 5, (int)(i / 3 % 2), got);
            expect_near(call, h, got, want, n);
        }
    }
}

static void levels_agree_on_odd_values(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    static const float h[] = {NAN,    INFINITY, -INFINITY, 0.0f,   -0.0f,  1e-40f, -1e-40f, 1e30f,
                              1e-20f, 14.0f,    16.0f,     100.0f, -90.0f, 3e38f,  -14.9f,  1.0f};
    enum { N = sizeof h / sizeof *h };
    float want[N], got[N];
    struct kernels ref, kernels;
    kernels_fill(&ref, ISA_REF);
    for (size_t i = 0; i < n_levels * N_CALLS; i++) {
        kernels_fill(&kernels, levels[i / N_CALLS]);
        run(&ref, i % N_CALLS, h, N, 0, 0, want);
        run(&kernels, i % N_CALLS, h, N, 1, 0, got);
        expect_near(i % N_CALLS, h, got, want, N);
    }
}

static void bench(void)
{
    static float h[MAX_N], dy[MAX_N], r[MAX_N];
    uint64_t seed = 1;
    check_fill(h, MAX_N, 3.0f, &seed);
    check_fill(dy, MAX_N, 1.0f, &seed);
    enum isa_level levels[3] = {ISA_REF};
    const size_t n_levels = 1 + check_levels(levels + 1);
    for (size_t i = 0; i < n_levels * N_CALLS; i++) {
        struct kernels kernels;
        kernels_fill(&kernels, levels[i / N_CALLS]);
        double best = 1e9;
        for (int round = 0; round < 200; round++) {
            const double start = check_seconds();
            calls[i % N_CALLS].call(&kernels.gelu, MAX_N, h, dy, r);
            best = fmin(best, check_seconds() - start);
        }
        printf("%-8s %-14s %7.3f ns per element\n", isa_level_name(levels[i / N_CALLS]),
               calls[i % N_CALLS].name, 1e9 * best / MAX_N);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ref_is_the_definition),
        cmocka_unit_test(levels_agree),
        cmocka_unit_test(levels_agree_on_odd_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
