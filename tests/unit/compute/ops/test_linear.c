/* The linear op: against plain loops in double at sizes from 1 up, its gradients against finite
 * differences, accumulation, repeatability. `--bench` prints GF/s of BERT's shapes. */
#include "op_support.h"

#include <time.h>

#include "compute/ops/linear.h"

struct layer {
    size_t n, in, out;
    float *x, *w, *b, *dy, *y, *dx, *dw, *db;
    double *x2, *w2, *b2, *want;
};

static void *room(size_t n, size_t size)
{
    void *block = calloc(n, size);
    assert_non_null(block);
    return block;
}

static struct layer layer_make(size_t n, size_t in, size_t out)
{
    struct layer l = {.n = n, .in = in, .out = out};
    uint32_t state = (uint32_t)(n + in + out);
    float **arrays[] = {&l.x, &l.w, &l.b, &l.dy, &l.y, &l.dx, &l.dw, &l.db};
    const size_t sizes[] = {n * in, out * in, out, n * out, n * out, n * in, out * in, out};
    for (size_t i = 0; i < 8; i++) {
        *arrays[i] = room(sizes[i], sizeof(float));
        op_fill(*arrays[i], sizes[i], 1.0f, &state);
    }
    l.x2 = room(n * in, sizeof(double));
    l.w2 = room(out * in, sizeof(double));
    l.b2 = room(out, sizeof(double));
    op_widen(l.x, n * in, l.x2);
    op_widen(l.w, out * in, l.w2);
    op_widen(l.b, out, l.b2);
    const size_t largest = n * in > out * in ? n * in : out * in;
    l.want = room(largest > n * out ? largest : n * out, sizeof(double));
    return l;
}

static void layer_end(struct layer *l)
{
    float *arrays[] = {l->x, l->w, l->b, l->dy, l->y, l->dx, l->dw, l->db};
    for (size_t i = 0; i < 8; i++) {
        free(arrays[i]);
    }
    free(l->x2);
    free(l->w2);
    free(l->b2);
    free(l->want);
}

/* One element of y in double. */
static double output(const struct layer *l, size_t i, size_t o)
{
    double sum = l->b2[o];
    for (size_t k = 0; k < l->in; k++) {
        sum += l->x2[i * l->in + k] * l->w2[o * l->in + k];
    }
    return sum;
}

static double loss(void *context)
{
    const struct layer *l = context;
    double sum = 0.0;
    for (size_t i = 0; i < l->n; i++) {
        for (size_t o = 0; o < l->out; o++) {
            sum += l->dy[i * l->out + o] * output(l, i, o);
        }
    }
    return sum;
}

/* Sums of `depth` products up to 1 in float wander by the square root of their number. */
static double allowed(size_t depth)
{
    return 2e-6 * sqrt((double)depth);
}

static const size_t shapes[][3] = {{1, 3, 2},      {1, 1, 1},       {5, 7, 3},
                                   {17, 16, 33},   {64, 64, 64},    {500, 128, 2},
                                   {131, 192, 97}, {300, 128, 384}, {130, 768, 96}};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static void forward_is_the_definition(void **state)
{
    (void)state;
    for (size_t s = 0; s < N_SHAPES; s++) {
        struct layer l = layer_make(shapes[s][0], shapes[s][1], shapes[s][2]);
        const struct compute compute = op_compute(isa_detect(), 1 + (int)s % 3);
        for (int with_bias = 0; with_bias < 2; with_bias++) {
            for (size_t i = 0; i < l.n * l.out; i++) {
                l.y[i] = NAN; /* what stood there has no effect */
                l.want[i] = output(&l, i / l.out, i % l.out) - (with_bias ? 0.0 : l.b2[i % l.out]);
            }
            EXPECT_OK(
                linear_forward(&compute, l.n, l.in, l.out, l.x, l.w, with_bias ? l.b : NULL, l.y));
            op_near("y", l.y, l.want, l.n * l.out, allowed(l.in));
        }
        layer_end(&l);
    }
}

static void input_gradient_is_the_definition(void **state)
{
    (void)state;
    for (size_t s = 0; s < N_SHAPES; s++) {
        struct layer l = layer_make(shapes[s][0], shapes[s][1], shapes[s][2]);
        const struct compute compute = op_compute(isa_detect(), 1 + (int)s % 3);
        for (size_t i = 0; i < l.n * l.in; i++) {
            l.want[i] = 0.0;
            l.dx[i] = NAN;
            for (size_t o = 0; o < l.out; o++) {
                l.want[i] += l.dy[i / l.in * l.out + o] * l.w2[o * l.in + i % l.in];
            }
        }
        EXPECT_OK(linear_backward_input(&compute, l.n, l.in, l.out, l.dy, l.w, 0, l.dx));
        op_near("dx", l.dx, l.want, l.n * l.in, allowed(l.out));
        EXPECT_OK(linear_backward_input(&compute, l.n, l.in, l.out, l.dy, l.w, 1, l.dx));
        for (size_t i = 0; i < l.n * l.in; i++) {
            l.want[i] *= 2.0;
        }
        op_near("dx accumulated", l.dx, l.want, l.n * l.in, allowed(l.out));
        layer_end(&l);
    }
}

static void weight_gradient_is_added(void **state)
{
    (void)state;
    for (size_t s = 0; s < N_SHAPES; s++) {
        struct layer l = layer_make(shapes[s][0], shapes[s][1], shapes[s][2]);
        const struct compute compute = op_compute(isa_detect(), 1 + (int)s % 3);
        for (size_t i = 0; i < l.out * l.in; i++) {
            l.want[i] = l.dw[i];
            for (size_t t = 0; t < l.n; t++) {
                l.want[i] += l.dy[t * l.out + i / l.in] * l.x2[t * l.in + i % l.in];
            }
        }
        for (size_t o = 0; o < l.out; o++) {
            l.b2[o] = l.db[o];
            for (size_t t = 0; t < l.n; t++) {
                l.b2[o] += l.dy[t * l.out + o];
            }
        }
        EXPECT_OK(linear_backward_weight(&compute, l.n, l.in, l.out, l.dy, l.x, l.dw, l.db));
        op_near("dw", l.dw, l.want, l.out * l.in, allowed(l.n));
        op_near("db", l.db, l.b2, l.out, allowed(l.n));
        EXPECT_OK(linear_backward_weight(&compute, l.n, l.in, l.out, l.dy, l.x, l.dw, NULL));
        op_near("db untouched", l.db, l.b2, l.out, allowed(l.n));
        layer_end(&l);
    }
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    struct layer l = layer_make(6, 5, 4);
    const struct compute compute = op_compute(isa_detect(), 2);
    memset(l.dw, 0, l.out * l.in * sizeof *l.dw);
    memset(l.db, 0, l.out * sizeof *l.db);
    EXPECT_OK(linear_backward_input(&compute, l.n, l.in, l.out, l.dy, l.w, 0, l.dx));
    EXPECT_OK(linear_backward_weight(&compute, l.n, l.in, l.out, l.dy, l.x, l.dw, l.db));
    op_differences(loss, &l, l.x2, l.n * l.in, l.want);
    op_near("dx", l.dx, l.want, l.n * l.in, 2e-6);
    op_differences(loss, &l, l.w2, l.out * l.in, l.want);
    op_near("dw", l.dw, l.want, l.out * l.in, 2e-6);
    op_differences(loss, &l, l.b2, l.out, l.want);
    op_near("db", l.db, l.want, l.out, 2e-6);
    layer_end(&l);
}

/* The same threads: the same bits. Other threads: the same column sums. */
static void results_repeat(void **state)
{
    (void)state;
    struct layer a = layer_make(777, 96, 160), b = layer_make(777, 96, 160);
    for (int round = 0; round < 3; round++) {
        const struct compute compute = op_compute(isa_detect(), 2);
        EXPECT_OK(linear_forward(&compute, a.n, a.in, a.out, a.x, a.w, a.b, round ? b.y : a.y));
        if (round) {
            assert_memory_equal(a.y, b.y, a.n * a.out * sizeof(float));
        }
    }
    for (int n_threads = 1; n_threads < 6; n_threads += 4) {
        struct compute compute = op_compute(isa_detect(), n_threads);
        struct layer *l = n_threads == 1 ? &a : &b;
        EXPECT_OK(linear_backward_weight(&compute, l->n, l->in, l->out, l->dy, l->x, l->dw, l->db));
    }
    assert_memory_equal(a.db, b.db, a.out * sizeof(float));
    layer_end(&a);
    layer_end(&b);
}

static void impossible_sizes_are_errors(void **state)
{
    (void)state;
    const struct compute compute = op_compute(isa_detect(), 1);
    float x = 1.0f, y = 1.0f;
    EXPECT_FAIL(linear_forward(&compute, (size_t)-5, 1, 1, &x, &x, NULL, &y), YOKE_ERR_INTERNAL,
                "oneDNN");
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void bench_shape(const struct compute *compute, size_t n, size_t in, size_t out)
{
    struct layer l = layer_make(n, in, out);
    double best[3] = {1e9, 1e9, 1e9};
    for (int round = 0; round < 12; round++) {
        const double t0 = seconds();
        EXPECT_OK(linear_forward(compute, n, in, out, l.x, l.w, l.b, l.y));
        const double t1 = seconds();
        EXPECT_OK(linear_backward_input(compute, n, in, out, l.dy, l.w, 0, l.dx));
        const double t2 = seconds();
        EXPECT_OK(linear_backward_weight(compute, n, in, out, l.dy, l.x, l.dw, l.db));
        const double times[3] = {t1 - t0, t2 - t1, seconds() - t2};
        for (int i = 0; i < 3; i++) {
            best[i] = fmin(best[i], times[i]);
        }
    }
    const double work = 2e-9 * (double)n * (double)in * (double)out;
    printf("n %5zu in %4zu out %4zu: forward %5.0f  backward input %5.0f  weight %5.0f GF/s\n", n,
           in, out, work / best[0], work / best[1], work / best[2]);
    layer_end(&l);
}

static void bench(void)
{
    const struct compute compute = op_compute(isa_detect(), 2);
    static const size_t sizes[][3] = {{3072, 768, 768},  {3072, 768, 2304}, {3072, 768, 3072},
                                      {3072, 3072, 768}, {500, 128, 128},   {500, 128, 512}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bench_shape(&compute, sizes[i][0], sizes[i][1], sizes[i][2]);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_is_the_definition),
        cmocka_unit_test(input_gradient_is_the_definition),
        cmocka_unit_test(weight_gradient_is_added),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(results_repeat),
        cmocka_unit_test(impossible_sizes_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
