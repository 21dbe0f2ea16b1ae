/* The embedding op: sums and gradients against finite differences of the sum in double (rows that
 * occur twice, the padding word, no token types), independence of the number of threads. */
#include "op_support.h"

#include "compute/ops/embedding.h"

enum { N = 600, WIDTH = 35, WORDS = 11, POSITIONS = 50, TYPES = 2, PADDING = 4 };

struct tables {
    double word[WORDS * WIDTH], position[POSITIONS * WIDTH], type[TYPES * WIDTH];
};

struct fixture {
    float word[WORDS * WIDTH], position[POSITIONS * WIDTH], type[TYPES * WIDTH], dx[N * WIDTH];
    uint32_t ids[N], positions[N];
    uint8_t types[N];
    struct tables wide;
    bool with_types;
};

static struct embedding fixture_init(struct fixture *f, int64_t padding_id, bool with_types)
{
    uint32_t state = 2;
    op_fill(f->word, WORDS * WIDTH, 1.0f, &state);
    op_fill(f->position, POSITIONS * WIDTH, 1.0f, &state);
    op_fill(f->type, TYPES * WIDTH, 1.0f, &state);
    op_fill(f->dx, N * WIDTH, 1.0f, &state);
    op_widen(f->word, WORDS * WIDTH, f->wide.word);
    op_widen(f->position, POSITIONS * WIDTH, f->wide.position);
    op_widen(f->type, TYPES * WIDTH, f->wide.type);
    for (uint32_t t = 0; t < N; t++) {
        f->ids[t] = t * 7 % WORDS;
        f->positions[t] = t % POSITIONS;
        f->types[t] = t % 3 == 0;
    }
    f->with_types = with_types;
    return (struct embedding){.n = N,
                              .width = WIDTH,
                              .ids = f->ids,
                              .positions = f->positions,
                              .types = with_types ? f->types : NULL,
                              .padding_id = padding_id};
}

static double element(const struct fixture *f, size_t t, size_t c)
{
    const double type = f->with_types ? f->wide.type[f->types[t] * WIDTH + c] : 0.0;
    return f->wide.word[f->ids[t] * WIDTH + c] + f->wide.position[f->positions[t] * WIDTH + c] +
           type;
}

static double loss(void *context)
{
    const struct fixture *f = context;
    double sum = 0.0;
    for (size_t t = 0; t < N; t++) {
        for (size_t c = 0; c < WIDTH; c++) {
            sum += f->dx[t * WIDTH + c] * element(f, t, c);
        }
    }
    return sum;
}

static void forward_is_the_sum(void **state)
{
    (void)state;
    static struct fixture f;
    static float x[N * WIDTH];
    static double want[N * WIDTH];
    for (int with_types = 0; with_types < 2; with_types++) {
        const struct embedding embedding = fixture_init(&f, -1, with_types);
        for (size_t i = 0; i < N * WIDTH; i++) {
            want[i] = element(&f, i / WIDTH, i % WIDTH);
        }
        for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
            const struct compute compute = op_compute(level, 2);
            embedding_forward(&compute, &embedding, f.word, f.position, with_types ? f.type : NULL,
                              x);
            op_near("x", x, want, N * WIDTH, 2e-7);
        }
    }
}

struct gradients {
    float word[WORDS * WIDTH], position[POSITIONS * WIDTH], type[TYPES * WIDTH];
};

static void backward(const struct fixture *f, const struct embedding *embedding,
                     enum isa_level level, int n_threads, struct gradients *g)
{
    memset(g, 0, sizeof *g);
    const struct compute compute = op_compute(level, n_threads);
    embedding_backward(&compute, embedding, f->dx, g->word, g->position,
                       f->with_types ? g->type : NULL);
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    static struct fixture f;
    static struct gradients g;
    double want[POSITIONS * WIDTH];
    for (int with_types = 0; with_types < 2; with_types++) {
        const struct embedding embedding = fixture_init(&f, -1, with_types);
        backward(&f, &embedding, isa_detect(), 2, &g);
        op_differences(loss, &f, f.wide.word, WORDS * WIDTH, want);
        op_near("word", g.word, want, WORDS * WIDTH, 5e-6);
        op_differences(loss, &f, f.wide.position, POSITIONS * WIDTH, want);
        op_near("position", g.position, want, POSITIONS * WIDTH, 5e-6);
        op_differences(loss, &f, f.wide.type, TYPES * WIDTH, want);
        op_near("type", g.type, want, TYPES * WIDTH, 1e-5);
    }
}

static void padding_word_gets_nothing(void **state)
{
    (void)state;
    static struct fixture f;
    static struct gradients all, some;
    struct embedding embedding = fixture_init(&f, -1, true);
    backward(&f, &embedding, isa_detect(), 1, &all);
    embedding.padding_id = PADDING;
    backward(&f, &embedding, isa_detect(), 1, &some);
    for (size_t i = 0; i < WORDS * WIDTH; i++) {
        assert_true(some.word[i] == (i / WIDTH == PADDING ? 0.0f : all.word[i]));
    }
    assert_memory_equal(some.position, all.position, sizeof all.position);
    assert_memory_equal(some.type, all.type, sizeof all.type);
}

/* Sums in one order: the same bits for any threads and at any level. */
static void threads_and_levels_change_nothing(void **state)
{
    (void)state;
    static struct fixture f;
    static struct gradients one, other;
    const struct embedding embedding = fixture_init(&f, PADDING, true);
    backward(&f, &embedding, ISA_REF, 1, &one);
    for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
        for (int n_threads = 1; n_threads < 6; n_threads++) {
            backward(&f, &embedding, level, n_threads, &other);
            assert_memory_equal(&one, &other, sizeof one);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forward_is_the_sum),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(padding_word_gets_nothing),
        cmocka_unit_test(threads_and_levels_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
