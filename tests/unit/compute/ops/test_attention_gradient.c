/* The attention op on packed sequences: against a transcription in double, its gradient against
 * finite differences of that transcription (with dropout: the mask is fixed by its address), and
 * its independence of threads and packing. */
#include "support.h"

#include <math.h>

#include "compute/kernels/dropout/philox.h"
#include "compute/ops/attention.h"

enum { N_SEQS = 4, N_TOKENS = 1 + 9 + 0 + 17, HEADS = 3, DIM = 5, HIDDEN = HEADS * DIM };
static const uint32_t offsets[N_SEQS + 1] = {0, 1, 10, 10, 27};

struct fixture {
    float qkv[N_TOKENS * 3 * HIDDEN], dout[N_TOKENS * HIDDEN];
    uint32_t examples[N_TOKENS], positions[N_TOKENS];
    struct attention_shape shape;
    struct dropout dropout;
};

struct result {
    float out[N_TOKENS * HIDDEN], lse[HEADS * N_TOKENS], dqkv[N_TOKENS * 3 * HIDDEN];
};

static float number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) * 0x1p-23f - 1.0f;
}

static void fixture_init(struct fixture *f, float p)
{
    uint32_t state = 7;
    for (size_t i = 0; i < N_TOKENS * 3 * HIDDEN; i++) {
        f->qkv[i] = 2.0f * number(&state);
    }
    for (size_t i = 0; i < N_TOKENS * HIDDEN; i++) {
        f->dout[i] = number(&state);
    }
    for (uint32_t s = 0; s < N_SEQS; s++) {
        for (uint32_t t = offsets[s]; t < offsets[s + 1]; t++) {
            f->examples[t] = 50 + 3 * s;
            f->positions[t] = t - offsets[s];
        }
    }
    f->shape = (struct attention_shape){N_SEQS, offsets, 17, HEADS, DIM, 0.4f};
    f->dropout = (struct dropout){.p = p, .seed = 3, .step = 4, .site = 5};
}

static void run(const struct fixture *f, enum isa_level level, int n_threads, struct result *r)
{
    struct compute compute;
    EXPECT_OK(compute_init(&compute, level, n_threads));
    const struct token_addresses at = {f->examples, f->positions};
    const size_t bytes = attention_scratch(&compute, f->shape.max_len, f->shape.head_dim);
    void *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    attention_forward(&compute, &f->shape, &f->dropout, &at, f->qkv, r->out, r->lse, scratch);
    attention_backward(&compute, &f->shape, &f->dropout, &at, f->qkv, r->out, r->lse, f->dout,
                       r->dqkv, scratch);
    free(scratch);
    compute_fini(&compute);
}

/* softmax(scale q k^T) with its mask, times v: one row of one unit, from doubles. */
static void row_in_double(const struct fixture *f, const double *qkv, uint32_t sequence,
                          uint32_t head, uint32_t query, double out[DIM])
{
    struct dropout_stream stream;
    const int drops = dropout_begin(&f->dropout, &stream);
    const uint32_t first = offsets[sequence], len = offsets[sequence + 1] - first;
    double e[32], sum = 0.0;
    for (uint32_t j = 0; j < len; j++) {
        double score = 0.0;
        for (uint32_t c = 0; c < DIM; c++) {
            score += qkv[(first + query) * 3 * HIDDEN + head * DIM + c] *
                     qkv[(first + j) * 3 * HIDDEN + HIDDEN + head * DIM + c];
        }
        sum += e[j] = exp((double)f->shape.scale * score);
    }
    for (uint32_t c = 0; c < DIM; c++) {
        out[c] = 0.0;
    }
    for (uint32_t j = 0; j < len; j++) {
        const struct dropout_row row = {f->examples[first], j, head};
        if (drops && !(dropout_bits_scalar(&stream, row, query / 64) >> (query % 64) & 1)) {
            continue;
        }
        const double weight = e[j] / sum * (drops ? (double)stream.scale : 1.0);
        for (uint32_t c = 0; c < DIM; c++) {
            out[c] += weight * qkv[(first + j) * 3 * HIDDEN + 2 * HIDDEN + head * DIM + c];
        }
    }
}

/* sum of dout * out over the sequence that holds `token`. */
static double loss_of_sequence(const struct fixture *f, const double *qkv, uint32_t sequence)
{
    double loss = 0.0;
    for (uint32_t i = 0; i < offsets[sequence + 1] - offsets[sequence]; i++) {
        for (uint32_t h = 0; h < HEADS; h++) {
            double out[DIM];
            row_in_double(f, qkv, sequence, h, i, out);
            for (uint32_t c = 0; c < DIM; c++) {
                loss += out[c] * (double)f->dout[(offsets[sequence] + i) * HIDDEN + h * DIM + c];
            }
        }
    }
    return loss;
}

static void expect_near(const char *what, size_t i, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s[%zu] is %.9g, wanted %.9g", what, i, got, want);
    }
}

static void against_double(float p)
{
    static struct fixture f;
    static struct result results[ISA_N_LEVELS];
    static double qkv[N_TOKENS * 3 * HIDDEN];
    fixture_init(&f, p);
    for (size_t i = 0; i < N_TOKENS * 3 * HIDDEN; i++) {
        qkv[i] = (double)f.qkv[i];
    }
    for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
        run(&f, level, 2, &results[level]);
    }
    for (uint32_t s = 0; s < N_SEQS; s++) {
        for (uint32_t t = offsets[s]; t < offsets[s + 1]; t++) {
            for (uint32_t h = 0; h < HEADS; h++) {
                double out[DIM];
                row_in_double(&f, qkv, s, h, t - offsets[s], out);
                for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
                    for (uint32_t c = 0; c < DIM; c++) {
                        const size_t i = t * HIDDEN + h * DIM + c;
                        expect_near("out", i, (double)results[level].out[i], out[c], 5e-6);
                    }
                }
            }
            /* Central differences: error step^2 times a third derivative, about 1e-9. */
            for (size_t i = t * 3 * HIDDEN; i < (t + 1) * 3 * HIDDEN; i++) {
                const double at = qkv[i], step = 1e-5;
                qkv[i] = at + step;
                const double above = loss_of_sequence(&f, qkv, s);
                qkv[i] = at - step;
                const double slope = (above - loss_of_sequence(&f, qkv, s)) / (2.0 * step);
                qkv[i] = at;
                for (enum isa_level level = ISA_REF; level <= isa_detect(); level++) {
                    expect_near("dqkv", i, (double)results[level].dqkv[i], slope, 1e-5);
                }
            }
        }
    }
}

static void without_dropout(void **state)
{
    (void)state;
    against_double(0.0f);
}

static void with_dropout(void **state)
{
    (void)state;
    against_double(0.3f);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static struct fixture f;
    static struct result one, many;
    fixture_init(&f, 0.2f);
    run(&f, isa_detect(), 1, &one);
    for (int n_threads = 2; n_threads < 6; n_threads++) {
        run(&f, isa_detect(), n_threads, &many);
        assert_memory_equal(&many, &one, sizeof one);
    }
}

/* A sequence gives the same bits alone as in company. */
static void packing_changes_nothing(void **state)
{
    (void)state;
    static struct fixture f, alone;
    static struct result together, single;
    static const uint32_t single_offsets[] = {0, 17};
    fixture_init(&f, 0.2f);
    run(&f, isa_detect(), 2, &together);
    alone = f;
    alone.shape.n_seqs = 1;
    alone.shape.offsets = single_offsets;
    memcpy(alone.qkv, f.qkv + 10 * 3 * HIDDEN, 17 * 3 * HIDDEN * sizeof(float));
    memcpy(alone.dout, f.dout + 10 * HIDDEN, 17 * HIDDEN * sizeof(float));
    memcpy(alone.examples, f.examples + 10, 17 * sizeof(uint32_t));
    memcpy(alone.positions, f.positions + 10, 17 * sizeof(uint32_t));
    run(&alone, isa_detect(), 1, &single);
    assert_memory_equal(single.out, together.out + 10 * HIDDEN, 17 * HIDDEN * sizeof(float));
    assert_memory_equal(single.dqkv, together.dqkv + 10 * 3 * HIDDEN,
                        17 * 3 * HIDDEN * sizeof(float));
}

/* More sequences than are sorted at once. */
static void many_sequences(void **state)
{
    (void)state;
    enum { MANY = 600, WIDTH = 8 };
    static uint32_t many_offsets[MANY + 1];
    for (uint32_t s = 0; s < MANY; s++) {
        many_offsets[s + 1] = many_offsets[s] + s * 7 % 5;
    }
    const size_t n = many_offsets[MANY];
    float *qkv = calloc(n * 3 * WIDTH, sizeof *qkv), *out = malloc(n * WIDTH * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < WIDTH; c++) {
            qkv[i * 3 * WIDTH + 2 * WIDTH + c] = (float)i;
        }
    }
    struct compute compute;
    EXPECT_OK(compute_init(&compute, isa_detect(), 2));
    const struct attention_shape shape = {MANY, many_offsets, 4, 2, WIDTH / 2, 1.0f};
    const size_t bytes = attention_scratch(&compute, 4, WIDTH / 2);
    void *scratch = aligned_alloc(64, (bytes + 63) / 64 * 64);
    attention_forward(&compute, &shape, NULL, NULL, qkv, out, NULL, scratch);
    for (uint32_t s = 0; s < MANY; s++) {
        for (uint32_t t = many_offsets[s]; t < many_offsets[s + 1]; t++) {
            const double mean = ((double)many_offsets[s] + (double)many_offsets[s + 1] - 1.0) / 2.0;
            expect_near("mean", t, (double)out[t * WIDTH], mean, 1e-3);
        }
    }
    free(scratch);
    free(out);
    free(qkv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_dropout),        cmocka_unit_test(with_dropout),
        cmocka_unit_test(threads_change_nothing), cmocka_unit_test(packing_changes_nothing),
        cmocka_unit_test(many_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
