/* The LayerNorm op: against a transcription in double, its gradients against finite differences of
 * that transcription (dropout's mask is fixed by its address), independence of the number of
 * threads. */
#include "op_support.h"

#include "compute/ops/layernorm.h"

enum { N = 37, WIDTH = 21, SIZE = N * WIDTH, BIG_N = 4001, BIG_WIDTH = 24 };
static const float eps = 1e-5f;

/* The same numbers twice: float for the op, double for the transcription. */
struct fixture {
    float x[SIZE], residual[SIZE], gamma[WIDTH], beta[WIDTH], dy[SIZE], mask[SIZE];
    double x2[SIZE], residual2[SIZE], gamma2[WIDTH], beta2[WIDTH];
    uint32_t examples[N], positions[N];
    struct dropout dropout;
};

static void fixture_init(struct fixture *f, float p)
{
    uint32_t state = 3;
    op_fill(f->x, SIZE, 2.0f, &state);
    op_fill(f->residual, SIZE, 1.0f, &state);
    op_fill(f->gamma, WIDTH, 1.0f, &state);
    op_fill(f->beta, WIDTH, 1.0f, &state);
    op_fill(f->dy, SIZE, 1.0f, &state);
    op_widen(f->x, SIZE, f->x2);
    op_widen(f->residual, SIZE, f->residual2);
    op_widen(f->gamma, WIDTH, f->gamma2);
    op_widen(f->beta, WIDTH, f->beta2);
    for (uint32_t t = 0; t < N; t++) {
        f->examples[t] = t / 5;
        f->positions[t] = t % 5;
    }
    f->dropout = (struct dropout){.p = p, .seed = 1, .step = 2, .site = 3};
    for (size_t i = 0; i < SIZE; i++) {
        f->mask[i] = 1.0f;
    }
    const struct compute compute = op_compute(ISA_REF, 1);
    dropout_apply(&compute, &f->dropout, &(struct token_addresses){f->examples, f->positions}, N,
                  WIDTH, f->mask, f->mask);
}

static void transcription(const struct fixture *f, double *y)
{
    for (size_t t = 0; t < N; t++) {
        double s[WIDTH], mean = 0.0, variance = 0.0;
        for (size_t c = 0; c < WIDTH; c++) {
            const size_t i = t * WIDTH + c;
            s[c] = f->residual2[i] + f->mask[i] * f->x2[i];
            mean += s[c] / WIDTH;
        }
        for (size_t c = 0; c < WIDTH; c++) {
            variance += (s[c] - mean) * (s[c] - mean) / WIDTH;
        }
        for (size_t c = 0; c < WIDTH; c++) {
            const double normalised = (s[c] - mean) / sqrt(variance + (double)eps);
            y[t * WIDTH + c] = f->gamma2[c] * normalised + f->beta2[c];
        }
    }
}

static double loss(void *context)
{
    const struct fixture *f = context;
    double y[SIZE];
    transcription(f, y);
    return op_dot(f->dy, y, SIZE);
}

static void check_level(struct fixture *f, enum isa_level level)
{
    static float y[SIZE], xhat[SIZE], rstd[N], dx[SIZE], dresidual[SIZE], dgamma[WIDTH],
        dbeta[WIDTH];
    static double want[SIZE];
    const struct compute compute = op_compute(level, 2);
    const struct token_addresses at = {f->examples, f->positions};
    layernorm_forward(&compute, &f->dropout, &at, N, WIDTH, eps, f->x, f->residual, f->gamma,
                      f->beta, y, xhat, rstd);
    transcription(f, want);
    op_near("y", y, want, SIZE, 2e-6);
    memset(dgamma, 0, sizeof dgamma);
    memset(dbeta, 0, sizeof dbeta);
    void *scratch = malloc(layernorm_backward_scratch(&compute, WIDTH));
    layernorm_backward(&compute, &f->dropout, &at, N, WIDTH, f->dy, xhat, rstd, f->gamma, dx,
                       dresidual, 0, dgamma, dbeta, scratch);
    op_differences(loss, f, f->x2, SIZE, want);
    op_near("dx", dx, want, SIZE, 2e-6);
    op_differences(loss, f, f->residual2, SIZE, want);
    op_near("dresidual", dresidual, want, SIZE, 2e-6);
    op_differences(loss, f, f->gamma2, WIDTH, want);
    op_near("dgamma", dgamma, want, WIDTH, 2e-6);
    op_differences(loss, f, f->beta2, WIDTH, want);
    op_near("dbeta", dbeta, want, WIDTH, 2e-6);
    layernorm_backward(&compute, &f->dropout, &at, N, WIDTH, f->dy, xhat, rstd, f->gamma, NULL,
                       dresidual, 1, dgamma, dbeta, scratch);
    op_differences(loss, f, f->residual2, SIZE, want);
    for (size_t i = 0; i < SIZE; i++) {
        want[i] *= 2.0;
    }
    op_near("dresidual accumulated", dresidual, want, SIZE, 3e-6);
    free(scratch);
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    static struct fixture f;
    for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
        fixture_init(&f, 0.0f);
        check_level(&f, level);
        fixture_init(&f, 0.3f);
        check_level(&f, level);
    }
}

struct gradients {
    float dx[BIG_N * BIG_WIDTH], dgamma[BIG_WIDTH], dbeta[BIG_WIDTH];
};

static void backward_big(int n_threads, struct gradients *g)
{
    static float x[BIG_N * BIG_WIDTH], gamma[BIG_WIDTH], beta[BIG_WIDTH], xhat[BIG_N * BIG_WIDTH],
        rstd[BIG_N];
    uint32_t state = 1;
    op_fill(x, BIG_N * BIG_WIDTH, 1.0f, &state);
    op_fill(gamma, BIG_WIDTH, 1.0f, &state);
    const struct compute compute = op_compute(isa_detect(), n_threads);
    layernorm_forward(&compute, NULL, NULL, BIG_N, BIG_WIDTH, eps, x, NULL, gamma, beta, g->dx,
                      xhat, rstd);
    op_fill(g->dx, BIG_N * BIG_WIDTH, 1.0f, &state);
    memset(g->dgamma, 0, sizeof g->dgamma);
    memset(g->dbeta, 0, sizeof g->dbeta);
    void *scratch = malloc(layernorm_backward_scratch(&compute, BIG_WIDTH));
    layernorm_backward(&compute, NULL, NULL, BIG_N, BIG_WIDTH, g->dx, xhat, rstd, gamma, g->dx,
                       NULL, 0, g->dgamma, g->dbeta, scratch);
    free(scratch);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static struct gradients one, other;
    backward_big(1, &one);
    for (int n_threads = 2; n_threads < 8; n_threads += 3) {
        backward_big(n_threads, &other);
        assert_memory_equal(&one, &other, sizeof one);
    }
}

static void evaluation_needs_no_statistics(void **state)
{
    (void)state;
    static struct fixture f;
    fixture_init(&f, 0.0f);
    static double want[SIZE];
    transcription(&f, want);
    const struct compute compute = op_compute(isa_detect(), 2);
    layernorm_forward(&compute, NULL, NULL, N, WIDTH, eps, f.x, f.residual, f.gamma, f.beta, f.x,
                      NULL, NULL);
    op_near("y in x", f.x, want, SIZE, 2e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(evaluation_needs_no_statistics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
