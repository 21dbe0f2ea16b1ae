/* The dropout op: what an element's mask depends on and what it does not. */
#include "support.h"

#include "compute/ops/dropout.h"

enum { N = 40, WIDTH = 100 };

static struct compute compute_make(enum isa_level level, int n_threads)
{
    struct compute compute;
    EXPECT_OK(compute_init(&compute, level, n_threads));
    return compute;
}

static void fill_tokens(uint32_t *examples, uint32_t *positions, float *x)
{
    for (uint32_t t = 0; t < N; t++) {
        examples[t] = 10 + t / 7;
        positions[t] = t % 7;
        for (uint32_t c = 0; c < WIDTH; c++) {
            x[t * WIDTH + c] = 1.0f + (float)(t * WIDTH + c);
        }
    }
}

/* The same tokens packed in reverse, with other numbers of threads, at every level. */
static void packing_threads_and_level_change_nothing(void **state)
{
    (void)state;
    static float x[N * WIDTH], want[N * WIDTH], reversed[N * WIDTH], got[N * WIDTH];
    uint32_t examples[N], positions[N], reversed_examples[N], reversed_positions[N];
    fill_tokens(examples, positions, x);
    for (size_t t = 0; t < N; t++) {
        reversed_examples[N - 1 - t] = examples[t];
        reversed_positions[N - 1 - t] = positions[t];
        memcpy(reversed + (N - 1 - t) * WIDTH, x + t * WIDTH, WIDTH * sizeof *x);
    }
    const struct dropout dropout = {.p = 0.3f, .seed = 8, .step = 1, .site = 2};
    struct compute compute = compute_make(ISA_REF, 1);
    dropout_apply(&compute, &dropout, &(struct token_addresses){examples, positions}, N, WIDTH, x,
                  want);
    for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
        compute = compute_make(level, 1 + (int)level);
        dropout_apply(&compute, &dropout,
                      &(struct token_addresses){reversed_examples, reversed_positions}, N, WIDTH,
                      reversed, got);
        for (size_t t = 0; t < N; t++) {
            assert_memory_equal(got + (N - 1 - t) * WIDTH, want + t * WIDTH, WIDTH * sizeof *x);
        }
    }
}

static void kept_elements_are_scaled(void **state)
{
    (void)state;
    static float x[N * WIDTH], y[N * WIDTH];
    uint32_t examples[N], positions[N];
    fill_tokens(examples, positions, x);
    const struct dropout dropout = {.p = 0.5f, .seed = 8, .step = 1, .site = 2};
    struct compute compute = compute_make(isa_detect(), 2);
    dropout_apply(&compute, &dropout, &(struct token_addresses){examples, positions}, N, WIDTH, x,
                  y);
    size_t n_kept = 0;
    for (size_t i = 0; i < N * WIDTH; i++) {
        assert_true(y[i] == 0.0f || y[i] == 2.0f * x[i]);
        n_kept += y[i] != 0.0f;
    }
    assert_in_range(n_kept, N * WIDTH * 45 / 100, N * WIDTH * 55 / 100);
    memcpy(y, x, sizeof x);
    dropout_apply(&compute, &dropout, &(struct token_addresses){examples, positions}, N, WIDTH, y,
                  y);
    size_t n_same = 0;
    for (size_t i = 0; i < N * WIDTH; i++) {
        n_same += (y[i] != 0.0f) == 1;
    }
    assert_int_equal(n_same, n_kept);
}

static void no_dropout_copies(void **state)
{
    (void)state;
    static float x[N * WIDTH], y[N * WIDTH];
    uint32_t examples[N], positions[N];
    fill_tokens(examples, positions, x);
    struct compute compute = compute_make(isa_detect(), 2);
    const struct token_addresses at = {examples, positions};
    dropout_apply(&compute, NULL, &at, N, WIDTH, x, y);
    assert_memory_equal(x, y, sizeof x);
    memset(y, 0, sizeof y);
    dropout_apply(&compute, &(struct dropout){.p = 0.0f}, &at, N, WIDTH, x, y);
    assert_memory_equal(x, y, sizeof x);
}

static void compute_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    struct compute compute;
    EXPECT_FAIL(compute_init(&compute, ISA_REF, 0), YOKE_ERR_INVALID, "threads");
    if (isa_detect() + 1 < ISA_N_LEVELS) {
        EXPECT_FAIL(compute_init(&compute, isa_detect() + 1, 1), YOKE_ERR_UNSUPPORTED, "level");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing_threads_and_level_change_nothing),
        cmocka_unit_test(kept_elements_are_scaled),
        cmocka_unit_test(no_dropout_copies),
        cmocka_unit_test(compute_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
