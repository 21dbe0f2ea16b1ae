/* AdamW against a transcription in double: ten steps of three groups of parameters with their own
 * settings; the norm; independence of the number of threads. */
#include "op_support.h"

#include "compute/ops/adamw.h"

enum { N = 9001, STEPS = 10, N_GROUPS = 3 };

static const struct adamw groups[N_GROUPS] = {
    {1e-3f, 0.9f, 0.999f, 1e-8f, 0.01f, 1.0f, 0},
    {5e-2f, 0.8f, 0.99f, 1e-6f, 0.0f, 0.25f, 0},
    {3e-4f, 0.0f, 0.95f, 1e-3f, 0.3f, 2.0f, 0},
};

struct moments {
    float g[N], p[N], m[N], v[N];
};

/* The algorithm of the torch documentation, without a rounding to float. */
static void transcription(const struct adamw *a, const float *g, double *p, double *m, double *v)
{
    const double lr = a->learning_rate, b1 = a->beta1, b2 = a->beta2, t = (double)a->step;
    for (size_t i = 0; i < N; i++) {
        const double gradient = (double)g[i] * a->gradient_scale;
        p[i] -= lr * a->weight_decay * p[i];
        m[i] = b1 * m[i] + (1.0 - b1) * gradient;
        v[i] = b2 * v[i] + (1.0 - b2) * gradient * gradient;
        const double mean = m[i] / (1.0 - pow(b1, t)), square = v[i] / (1.0 - pow(b2, t));
        p[i] -= lr * mean / (sqrt(square) + a->epsilon);
    }
}

static void fill(struct moments *x, uint32_t seed)
{
    memset(x, 0, sizeof *x);
    op_fill(x->p, N, 1.0f, &seed);
}

static void draw_gradient(struct moments *x, int64_t step)
{
    uint32_t seed = (uint32_t)step * 977u;
    op_fill(x->g, N, 0.1f, &seed);
    x->g[3] = 0.0f;
}

static void ten_steps_follow_the_transcription(void **state)
{
    (void)state;
    static struct moments x;
    static double p[N], m[N], v[N];
    for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
        const struct compute compute = op_compute(level, 2);
        for (size_t group = 0; group < N_GROUPS; group++) {
            fill(&x, (uint32_t)group);
            op_widen(x.p, N, p);
            memset(m, 0, sizeof m);
            memset(v, 0, sizeof v);
            struct adamw adamw = groups[group];
            for (adamw.step = 1; adamw.step <= STEPS; adamw.step++) {
                draw_gradient(&x, adamw.step);
                adamw_update(&compute, &adamw, N, x.g, x.p, x.m, x.v);
                transcription(&adamw, x.g, p, m, v);
                op_near("p", x.p, p, N, 2e-6);
                op_near("m", x.m, m, N, 1e-7);
                op_near("v", x.v, v, N, 1e-7);
            }
        }
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static struct moments one, other;
    for (int n_threads = 1; n_threads < 6; n_threads++) {
        struct moments *x = n_threads == 1 ? &one : &other;
        fill(x, 1);
        draw_gradient(x, 1);
        const struct compute compute = op_compute(isa_detect(), n_threads);
        struct adamw adamw = groups[0];
        adamw.step = 1;
        adamw_update(&compute, &adamw, N, x->g, x->p, x->m, x->v);
        if (n_threads > 1) {
            assert_memory_equal(&one, &other, sizeof one);
        }
    }
}

static void norm_is_the_sum_for_any_threads(void **state)
{
    (void)state;
    static float x[300007];
    const size_t sizes[] = {0, 1, 15, 17, 8191, 8193, 300007};
    uint32_t seed = 1;
    op_fill(x, 300007, 1.0f, &seed);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double want = 0.0;
        for (size_t k = 0; k < sizes[i]; k++) {
            want += (double)x[k] * (double)x[k];
        }
        struct compute compute = op_compute(isa_detect(), 1);
        const double got = vector_sum_squares(&compute, sizes[i], x);
        assert_true(fabs(got - want) <= 2e-7 * want);
        for (int n_threads = 2; n_threads < 6; n_threads++) {
            compute = op_compute(isa_detect(), n_threads);
            assert_true(vector_sum_squares(&compute, sizes[i], x) == got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_steps_follow_the_transcription),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(norm_is_the_sum_for_any_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
