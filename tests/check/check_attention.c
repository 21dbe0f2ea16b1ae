/* Attention kernels of every level against the reference: shapes around every tile and block,
 * dropout on and off, strides, misaligned rows, guard zones, rows with not-a-number. --bench prints
 * GF/s. */
#include "check_support.h"

#include "compute/ops/dropout.h"

struct shape {
    size_t len, dim;
    float p, amplitude;
};

/* Everything one unit reads and writes. */
struct data {
    struct attention_unit unit;
    struct dropout_stream stream;
    struct check_array qkv, out, lse, dout, dqkv;
    size_t hidden;
};

enum { N_HEADS = 2, HEAD = 1 };

static struct data data_make(struct shape shape, size_t shift, uint64_t seed)
{
    const size_t hidden = N_HEADS * shape.dim;
    struct data d = {.hidden = hidden};
    d.qkv = check_array_make(shape.len * 3 * hidden, shift);
    d.out = check_array_make(shape.len * hidden, shift);
    d.lse = check_array_make(shape.len, shift);
    d.dout = check_array_make(shape.len * hidden, shift);
    d.dqkv = check_array_make(shape.len * 3 * hidden, shift);
    check_fill(d.qkv.data, d.qkv.n, shape.amplitude, &seed);
    check_fill(d.dout.data, d.dout.n, 1.0f, &seed);
    const float *q = d.qkv.data + HEAD * shape.dim;
    d.unit = (struct attention_unit){.len = shape.len,
                                     .dim = shape.dim,
                                     .qkv_stride = 3 * hidden,
                                     .out_stride = hidden,
                                     .q = q,
                                     .k = q + hidden,
                                     .v = q + 2 * hidden,
                                     .scale = 1.0f / sqrtf((float)shape.dim),
                                     .example = 77,
                                     .head = HEAD};
    const struct dropout dropout = {.p = shape.p, .seed = seed, .step = 3, .site = 5};
    dropout_begin(&dropout, &d.stream);
    return d;
}

static void run(const struct attention_kernels *kernels, struct data *d)
{
    d->unit.dropout = d->stream.scale > 0.0f ? &d->stream : NULL;
    struct check_array scratch =
        check_array_make(kernels->scratch_floats(d->unit.len, d->unit.dim), 0);
    const size_t row = HEAD * d->unit.dim;
    kernels->forward(&d->unit, d->out.data + row, d->lse.data, scratch.data);
    float *dq = d->dqkv.data + row;
    kernels->backward(&d->unit, d->out.data + row, d->lse.data, d->dout.data + row, dq,
                      dq + d->hidden, dq + 2 * d->hidden, scratch.data);
    check_array_end(&scratch, "scratch");
}

/* Compares head HEAD of rows[n_rows, n_cols] and wants the other head untouched. */
static void compare(const char *what, const struct data *got, const struct check_array *got_array,
                    const struct check_array *want_array, double tolerance)
{
    const size_t dim = got->unit.dim;
    const size_t n_rows = got_array->n / got->hidden;
    float *a = malloc(n_rows * dim * sizeof *a), *b = malloc(n_rows * dim * sizeof *b);
    for (size_t r = 0; r < n_rows; r++) {
        const size_t at = r * got->hidden + HEAD * dim;
        memcpy(a + r * dim, got_array->data + at, dim * sizeof *a);
        memcpy(b + r * dim, want_array->data + at, dim * sizeof *b);
        for (size_t c = 0; c < HEAD * dim; c++) {
            if (!check_is_guard(got_array->data + r * got->hidden + c)) {
                fail_msg("%s: row %zu of the neighbouring head was written", what, r);
            }
        }
    }
    check_close(what, a, b, n_rows * dim, tolerance);
    free(a);
    free(b);
}

static void data_end(struct data *d)
{
    check_array_end(&d->qkv, "qkv");
    check_array_end(&d->out, "out");
    check_array_end(&d->lse, "lse");
    check_array_end(&d->dout, "dout");
    check_array_end(&d->dqkv, "dqkv");
}

static void compare_levels(struct shape shape, size_t shift, double tolerance)
{
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    const uint64_t seed = 1000 * shape.len + shape.dim;
    struct kernels ref;
    kernels_fill(&ref, ISA_REF);
    struct data want = data_make(shape, 0, seed);
    run(&ref.attention, &want);
    for (size_t i = 0; i < n_levels; i++) {
        struct kernels kernels;
        kernels_fill(&kernels, levels[i]);
        struct data got = data_make(shape, shift, seed);
        run(&kernels.attention, &got);
        char what[4][128];
        const char *names[4] = {"out", "lse", "dqkv", ""};
        for (int k = 0; k < 4; k++) {
            snprintf(what[k], sizeof what[k], "%s %s, len %zu, dim %zu, p %g, seed %llu",
                     isa_level_name(levels[i]), names[k], shape.len, shape.dim, (double)shape.p,
                     (unsigned long long)seed);
        }
        compare(what[0], &got, &got.out, &want.out, tolerance);
        check_close(what[1], got.lse.data, want.lse.data, shape.len, tolerance);
        compare(what[2], &got, &got.dqkv, &want.dqkv, tolerance);
        data_end(&got);
    }
    data_end(&want);
}

static void levels_equal_reference(void **state)
{
    (void)state;
    static const size_t lens[] = {1,  2,  3,  7,  8,  9,  13, 14, 15, 16, 17, 21,
                                  31, 32, 33, 41, 42, 43, 63, 64, 65, 97, 128};
    static const size_t dims[] = {1, 7, 8, 9, 16, 17, 24, 32, 48, 64};
    for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
        for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
            compare_levels((struct shape){lens[i], dims[k], 0.0f, 1.0f}, 0, 4e-6);
            compare_levels((struct shape){lens[i], dims[k], 0.1f, 1.0f}, 1 + k % 3, 4e-6);
        }
    }
}

static void real_shapes(void **state)
{
    (void)state;
    compare_levels((struct shape){180, 64, 0.1f, 1.0f}, 1, 4e-6);
    compare_levels((struct shape){384, 64, 0.1f, 1.0f}, 0, 4e-6);
    compare_levels((struct shape){53, 128, 0.5f, 1.0f}, 0, 4e-6);
    compare_levels((struct shape){37, ATTENTION_MAX_DIM, 0.1f, 1.0f}, 2, 4e-6);
}

/* Scores of some hundreds: one key takes all the weight, and a float has few digits after the
 * point. */
static void large_scores(void **state)
{
    (void)state;
    compare_levels((struct shape){100, 64, 0.0f, 12.0f}, 0, 2e-4);
}

static void not_a_number_stays_in_its_row(void **state)
{
    (void)state;
    enum isa_level levels[2];
    const size_t n_levels = check_levels(levels);
    const struct shape shape = {50, 20, 0.0f, 1.0f};
    const float bad[] = {NAN, INFINITY};
    for (size_t i = 0; i < n_levels * 2; i++) {
        struct kernels kernels;
        kernels_fill(&kernels, levels[i / 2]);
        struct data d = data_make(shape, 0, 9), clean = data_make(shape, 0, 9);
        d.qkv.data[33 * 3 * d.hidden + HEAD * shape.dim + 4] = bad[i % 2];
        run(&kernels.attention, &d);
        run(&kernels.attention, &clean);
        for (size_t r = 0; r < shape.len; r++) {
            const size_t at = r * d.hidden + HEAD * shape.dim;
            if (r == 33) {
                assert_true(isnan(d.out.data[at]) && isnan(d.lse.data[r]));
            } else {
                assert_memory_equal(d.out.data + at, clean.out.data + at,
                                    shape.dim * sizeof(float));
            }
        }
        data_end(&d);
        data_end(&clean);
    }
}

/* Rates count 4 and 10 len^2 dim operations. Many units, as in a batch, so that no unit finds its
 * rows in the first caches. */
static void bench(void)
{
    static const struct shape shapes[] = {{53, 64, 0.1f, 1.0f},  {128, 64, 0.1f, 1.0f},
                                          {180, 64, 0.1f, 1.0f}, {384, 64, 0.0f, 1.0f},
                                          {384, 64, 0.1f, 1.0f}, {384, 32, 0.1f, 1.0f}};
    enum { N_UNITS = 24 };
    printf("%-8s %5s %4s %5s %10s %10s %10s\n", "level", "len", "dim", "p", "forward", "backward",
           "both GF/s");
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        enum isa_level levels[3];
        levels[0] = ISA_REF;
        const size_t n_levels = 1 + check_levels(levels + 1);
        for (size_t i = 0; i < n_levels; i++) {
            const size_t n_units = levels[i] == ISA_REF ? 1 : N_UNITS;
            struct kernels kernels;
            kernels_fill(&kernels, levels[i]);
            struct data d[N_UNITS];
            for (size_t u = 0; u < n_units; u++) {
                d[u] = data_make(shapes[s], 0, u);
                d[u].unit.dropout = shapes[s].p > 0.0f ? &d[u].stream : NULL;
            }
            float *scratch = aligned_alloc(64, 4u << 20);
            double best_forward = 1e9, best_backward = 1e9;
            for (int round = 0; round < (levels[i] == ISA_REF ? 1 : 12); round++) {
                const size_t row = HEAD * shapes[s].dim, hidden = d[0].hidden;
                const double t0 = check_seconds();
                for (size_t u = 0; u < n_units; u++) {
                    kernels.attention.forward(&d[u].unit, d[u].out.data + row, d[u].lse.data,
                                              scratch);
                }
                const double t1 = check_seconds();
                for (size_t u = 0; u < n_units; u++) {
                    float *dq = d[u].dqkv.data + row;
                    kernels.attention.backward(&d[u].unit, d[u].out.data + row, d[u].lse.data,
                                               d[u].dout.data + row, dq, dq + hidden,
                                               dq + 2 * hidden, scratch);
                }
                best_forward = fmin(best_forward, t1 - t0);
                best_backward = fmin(best_backward, check_seconds() - t1);
            }
            const double unit =
                1e-9 * (double)n_units * (double)(shapes[s].len * shapes[s].len * shapes[s].dim);
            printf("%-8s %5zu %4zu %5.1f %10.1f %10.1f %10.1f\n", isa_level_name(levels[i]),
                   shapes[s].len, shapes[s].dim, (double)shapes[s].p, 4 * unit / best_forward,
                   10 * unit / best_backward, 14 * unit / (best_forward + best_backward));
            free(scratch);
            for (size_t u = 0; u < n_units; u++) {
                data_end(&d[u]);
            }
        }
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--bench") == 0) {
        bench();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_equal_reference),
        cmocka_unit_test(real_shapes),
        cmocka_unit_test(large_scores),
        cmocka_unit_test(not_a_number_stays_in_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
