/* LayerNorm: every level against plain C, over widths, aliases, dropout, bad rows. `--bench` times
 * it. */
#include "check_support.h"

#include "compute/ops/dropout.h"

enum { N = 5, MAX_WIDTH = 1024 };

/* Which of the optional arguments a call has. */
enum { WITH_DROPOUT = 1, WITH_RESIDUAL = 2, WITH_STATISTICS = 4, IN_PLACE = 8, N_CHOICES = 16 };

static const uint32_t examples[N] = {3, 3, 3, 8, 9}, positions[N] = {0, 1, 2, 0, 0};

struct outcome {
    float y[N * MAX_WIDTH], xhat[N * MAX_WIDTH], rstd[N];
    float dx[N * MAX_WIDTH], dresidual[N * MAX_WIDTH], dgamma[MAX_WIDTH], dbeta[MAX_WIDTH];
};

static const struct dropout_stream *stream_get(void)
{
    static struct dropout_stream stream;
    assert_true(
        dropout_begin(&(struct dropout){.p = 0.2f, .seed = 5, .step = 2, .site = 1}, &stream));
    return &stream;
}

static struct check_array filled(size_t n, size_t shift, float amplitude, uint64_t *seed)
{
    struct check_array array = check_array_make(n, shift);
    check_fill(array.data, n, amplitude, seed);
    return array;
}

static void take(float *to, struct check_array *array, const char *what)
{
    memcpy(to, array->data, array->n * sizeof *to);
    check_array_end(array, what);
}

/* poison: written over the first number of row 1. */
static void forward(const struct kernels *kernels, size_t width, int choice, size_t shift,
                    float poison, struct outcome *o)
{
    uint64_t seed = width;
    struct check_array x = filled(N * width, shift, 3.0f, &seed),
                       y = check_array_make(N * width, shift),
                       residual = filled(N * width, shift + 1, 1.0f, &seed),
                       xhat = check_array_make(N * width, shift + 2),
                       rstd = check_array_make(N, shift), gamma = filled(width, shift, 1.0f, &seed),
                       beta = filled(width, 3, 1.0f, &seed);
    x.data[width] = poison;
    kernels->layernorm.forward(&(struct layernorm_forward_rows){
        .n = N,
        .width = width,
        .dropout = choice & WITH_DROPOUT ? stream_get() : NULL,
        .examples = examples,
        .positions = positions,
        .eps = 1e-12f,
        .x = x.data,
        .residual = choice & WITH_RESIDUAL ? residual.data : NULL,
        .gamma = gamma.data,
        .beta = beta.data,
        .y = choice & IN_PLACE ? x.data : y.data,
        .xhat = choice & WITH_STATISTICS ? xhat.data : NULL,
        .rstd = choice & WITH_STATISTICS ? rstd.data : NULL,
    });
    memcpy(o->y, choice & IN_PLACE ? x.data : y.data, N * width * sizeof *o->y);
    check_array_end(&x, "x");
    check_array_end(&y, "y");
    check_array_end(&residual, "residual");
    take(o->xhat, &xhat, "xhat");
    take(o->rstd, &rstd, "rstd");
    check_array_end(&gamma, "gamma");
    check_array_end(&beta, "beta");
}

/* Here WITH_STATISTICS means: dresidual is added to. */
static void backward(const struct kernels *kernels, size_t width, int choice, size_t shift,
                     float poison, struct outcome *o)
{
    uint64_t seed = width + 1;
    struct check_array dy = filled(N * width, shift, 1.0f, &seed),
                       dx = check_array_make(N * width, 0),
                       xhat = filled(N * width, shift, 2.0f, &seed),
                       rstd = filled(N, 1, 2.0f, &seed), gamma = filled(width, shift, 1.0f, &seed),
                       dresidual = filled(N * width, shift + 2, 1.0f, &seed),
                       dgamma = filled(width, shift, 1.0f, &seed),
                       dbeta = filled(width, 1, 1.0f, &seed);
    dy.data[width] = poison;
    kernels->layernorm.backward(&(struct layernorm_backward_rows){
        .n = N,
        .width = width,
        .dropout = choice & WITH_DROPOUT ? stream_get() : NULL,
        .examples = examples,
        .positions = positions,
        .dy = dy.data,
        .xhat = xhat.data,
        .rstd = rstd.data,
        .gamma = gamma.data,
        .dx = choice & IN_PLACE ? dy.data : dx.data,
        .dresidual = choice & WITH_RESIDUAL ? dresidual.data : NULL,
        .accumulate_residual = (choice & WITH_STATISTICS) != 0,
        .dgamma = dgamma.data,
        .dbeta = dbeta.data,
    });
    memcpy(o->dx, choice & IN_PLACE ? dy.data : dx.data, N * width * sizeof *o->dx);
    check_array_end(&dy, "dy");
    check_array_end(&dx, "dx");
    check_array_end(&xhat, "xhat");
    check_array_end(&rstd, "rstd");
    check_array_end(&gamma, "gamma");
    take(o->dresidual, &dresidual, "dresidual");
    take(o->dgamma, &dgamma, "dgamma");
    take(o->dbeta, &dbeta, "dbeta");
}

static const size_t widths[] = {2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 131, 192, 768, MAX_WIDTH};
enum { N_WIDTHS = sizeof widths / sizeof *widths };

static void compare(const struct kernels *kernels, const struct kernels *ref, size_t width,
                    int choice, float poison)
{
    static struct outcome want, got;
    const size_t n = N * width, shift = width % 4 + (size_t)choice % 3;
    forward(ref, width, choice, 0, poison, &want);
    forward(kernels, width, choice, shift, poison, &got);
    check_close("y", got.y, want.y, n, 2e-6);
    if (choice & WITH_STATISTICS) {
        check_close("xhat", got.xhat, want.xhat, n, 2e-6);
        check_close("rstd", got.rstd, want.rstd, N, 2e-6);
    }
    backward(ref, width, choice, 0, poison, &want);
    backward(kernels, width, choice, shift, poison, &got);
    check_close("dx", got.dx, want.dx, n, 2e-6);
    if (choice & WITH_RESIDUAL) {
        check_close("dresidual", got.dresidual, want.dresidual, n, 2e-6);
    }
    check_close("dgamma", got.dgamma, want.dgamma, width, 2e-6);
    check_close("dbeta", got.dbeta, want.dbeta, width, 2e-6);
}

static void levels_agree(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    const float poisons[] = {0.5f, NAN, INFINITY, 1e-41f};
    struct kernels ref, kernels;
    kernels_fill(&ref, ISA_REF);
    for (size_t level = 0; level < n_levels; level++) {
        kernels_fill(&kernels, levels[level]);
        for (size_t i = 0; i < N_WIDTHS * N_CHOICES * 4; i++) {
            compare(&kernels, &ref, widths[i % N_WIDTHS], (int)(i / N_WIDTHS % N_CHOICES),
                    poisons[i / N_WIDTHS / N_CHOICES]);
        }
    }
}

/* A width of 1 normalises every number to exactly 0 whatever its size. */
static void one_column_gives_beta(void **state)
{
    (void)state;
    for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
        struct kernels kernels;
        kernels_fill(&kernels, level);
        const float x[2] = {1e6f, -3.0f}, gamma = 2.0f, beta = 0.25f;
        float y[2];
        kernels.layernorm.forward(&(struct layernorm_forward_rows){
            .n = 2, .width = 1, .eps = 1e-5f, .x = x, .gamma = &gamma, .beta = &beta, .y = y});
        assert_true(y[0] == 0.25f && y[1] == 0.25f);
    }
}

static void bench(void)
{
    static struct outcome o;
    enum isa_level levels[3] = {ISA_REF};
    const size_t n_levels = 1 + check_levels(levels + 1);
    static float x[N * 768], residual[N * 768], gamma[768], beta[768];
    uint64_t seed = 1;
    check_fill(x, N * 768, 1.0f, &seed);
    check_fill(residual, N * 768, 1.0f, &seed);
    for (size_t i = 0; i < n_levels; i++) {
        struct kernels kernels;
        kernels_fill(&kernels, levels[i]);
        double forth = 1e9, back = 1e9;
        for (int round = 0; round < 200; round++) {
            const double start = check_seconds();
            kernels.layernorm.forward(
                &(struct layernorm_forward_rows){N, 768, stream_get(), examples, positions, 1e-12f,
                                                 x, residual, gamma, beta, o.y, o.xhat, o.rstd});
            const double middle = check_seconds();
            kernels.layernorm.backward(&(struct layernorm_backward_rows){
                N, 768, stream_get(), examples, positions, residual, o.xhat, o.rstd, gamma, o.dx,
                o.dresidual, false, o.dgamma, o.dbeta});
            forth = fmin(forth, middle - start);
            back = fmin(back, check_seconds() - middle);
        }
        printf("%-8s forward %7.3f backward %7.3f ns per element\n", isa_level_name(levels[i]),
               1e9 * forth / (N * 768), 1e9 * back / (N * 768));
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_agree),
        cmocka_unit_test(one_column_gives_beta),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
