/* The whole model: gradients against differences of the loss, packing, dropout's addresses, no allocation. */
#include "support.h"

#include <math.h>

#include "base/core/memory.h"
#include "base/core/mt19937.h"
#include "learn/model/qa_model.h"

enum { N_SEQS = 4, MAX_TOKENS = 128, VOCAB = 50 };

static const size_t lengths[N_SEQS] = {7, 1, 33, 18};

struct fixture {
    struct model_config config;
    struct params params;
    struct compute compute;
    struct qa_model *model;
    struct batch batch;
    float *values;
    float *gradients;
};

static struct model_config small_config(enum model_family family, float dropout)
{
    return (struct model_config){
        .family = family,
        .vocab_size = VOCAB,
        .hidden = 24,
        .n_layers = 2,
        .n_heads = 3,
        .intermediate = 40,
        .max_positions = 64,
        .n_types = family == MODEL_BERT ? 2 : 0,
        .gelu = GELU_ERF,
        .norm_epsilon = 1e-12f,
        .dropout = dropout,
        .attention_dropout = dropout,
        .qa_dropout = family == MODEL_DISTILBERT ? dropout : 0.0f,
        .initializer_range = 0.3f, /* large: gradients well above rounding */
        .padding_id = 0,
    };
}

static void add_sequence(struct batch *batch, size_t index)
{
    uint32_t ids[64];
    uint8_t types[64];
    const size_t n = lengths[index];
    for (size_t i = 0; i < n; i++) {
        ids[i] = (uint32_t)((i * 7 + index * 13) % (VOCAB - 1) + 1);
        types[i] = i > n / 2;
    }
    batch_add(batch, (uint32_t)index + 100, n, ids, types, (uint32_t)(n / 3), (uint32_t)(n / 2));
}

static void fixture_init(struct fixture *f, enum model_family family, float dropout, int n_threads)
{
    memset(f, 0, sizeof *f);
    f->config = small_config(family, dropout);
    EXPECT_OK(compute_init(&f->compute, isa_detect(), n_threads));
    EXPECT_OK(params_init(&f->config, HEAD_QA, &f->params));
    EXPECT_OK(MEM_NEW(f->values, f->params.n_elements));
    EXPECT_OK(MEM_NEW(f->gradients, f->params.n_elements));
    params_draw(&f->params, &f->config, 42, f->values);
    EXPECT_OK(qa_model_create(&f->config, &f->params, &f->compute, MAX_TOKENS, N_SEQS, 64, true,
                              &f->model));
    EXPECT_OK(batch_init(&f->batch, MAX_TOKENS, N_SEQS));
    for (size_t i = 0; i < N_SEQS; i++) {
        add_sequence(&f->batch, i);
    }
}

static void fixture_fini(struct fixture *f)
{
    batch_fini(&f->batch);
    qa_model_destroy(f->model);
    mem_free(f->values);
    mem_free(f->gradients);
    params_fini(&f->params);
    compute_fini(&f->compute);
}

static double step(struct fixture *f, const struct encoder_dropout *dropout, float scale)
{
    double loss;
    memset(f->gradients, 0, f->params.n_elements * sizeof *f->gradients);
    EXPECT_OK(qa_model_step(f->model, f->values, &f->batch, dropout, scale, &loss, f->gradients));
    return loss;
}

/* The directional derivative along the gradient's own sign pattern of one parameter tensor: sums many
 * elements, so that fp32 rounding of the loss stays far below the difference. */
static void expect_tensor_gradient(struct fixture *f, const struct param *param,
                                   const struct encoder_dropout *dropout)
{
    const size_t n = param->rows * (param->columns ? param->columns : 1);
    float *values = f->values + param->offset;
    float *saved = NULL, *direction = NULL;
    EXPECT_OK(MEM_NEW(saved, n));
    EXPECT_OK(MEM_NEW(direction, n));
    step(f, dropout, 1.0f);
    double slope = 0.0, norm = 0.0;
    for (size_t i = 0; i < n; i++) {
        direction[i] = f->gradients[param->offset + i];
        norm += (double)direction[i] * direction[i];
    }
    norm = sqrt(norm);
    memcpy(saved, values, n * sizeof *saved);
    const double h = 1e-2;
    double loss[2];
    if (norm > 1e-6) {
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++) {
                values[i] = (float)(saved[i] + (side ? h : -h) * direction[i] / norm);
            }
            loss[side] = step(f, dropout, 1.0f);
        }
        slope = (loss[1] - loss[0]) / (2 * h);
        if (fabs(slope - norm) > 2e-2 * norm + 2e-4) {
            fail_msg("%s: gradient's norm %g, difference quotient %g", param->name, norm, slope);
        }
    }
    memcpy(values, saved, n * sizeof *saved);
    mem_free(saved);
    mem_free(direction);
}

static void check_gradients(enum model_family family, float p)
{
    struct fixture f;
    fixture_init(&f, family, p, 2);
    const struct encoder_dropout dropout = {.seed = 42, .step = 3};
    for (size_t i = 0; i < f.params.n_params; i++) {
        expect_tensor_gradient(&f, &f.params.table[i], p > 0 ? &dropout : NULL);
    }
    fixture_fini(&f);
}

static void gradients_are_the_losss(void **state)
{
    (void)state;
    check_gradients(MODEL_DISTILBERT, 0.0f);
    check_gradients(MODEL_BERT, 0.0f);
    check_gradients(MODEL_DISTILBERT, 0.2f);
    check_gradients(MODEL_BERT, 0.2f);
}

/* Mean loss and gradient of the packed batch = means over the sequences alone, dropout on: a mask depends
 * on the example, not on where it lies. */
static void packing_changes_nothing(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, MODEL_BERT, 0.1f, 2);
    const struct encoder_dropout dropout = {.seed = 1, .step = 9};
    float *sum = NULL;
    EXPECT_OK(MEM_NEW(sum, f.params.n_elements));
    const double together = step(&f, &dropout, 1.0f);
    memcpy(sum, f.gradients, f.params.n_elements * sizeof *sum);
    double mean = 0.0;
    float *alone = f.gradients;
    memset(alone, 0, f.params.n_elements * sizeof *alone);
    for (size_t i = N_SEQS; i-- > 0;) {
        double loss;
        batch_clear(&f.batch);
        add_sequence(&f.batch, i);
        EXPECT_OK(qa_model_step(f.model, f.values, &f.batch, &dropout, 1.0f / N_SEQS, &loss, alone));
        mean += loss / N_SEQS;
    }
    assert_true(fabs(together - mean) < 1e-5 * fabs(mean));
    for (size_t i = 0; i < f.params.n_elements; i++) {
        assert_true(fabsf(sum[i] - alone[i]) < 2e-5f + 1e-4f * fabsf(sum[i]));
    }
    mem_free(sum);
    fixture_fini(&f);
}

static void padding_word_gets_no_gradient(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, MODEL_DISTILBERT, 0.0f, 1);
    f.batch.ids[3] = 0;
    step(&f, NULL, 1.0f);
    for (size_t i = 0; i < f.config.hidden; i++) {
        assert_true(f.gradients[f.params.word_table + i] == 0.0f);
    }
    fixture_fini(&f);
}

static void steps_repeat_bit_for_bit_and_allocate_nothing(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, MODEL_DISTILBERT, 0.1f, 2);
    const struct encoder_dropout dropout = {.seed = 5, .step = 1};
    float *first = NULL;
    EXPECT_OK(MEM_NEW(first, f.params.n_elements));
    const double loss = step(&f, &dropout, 1.0f);
    memcpy(first, f.gradients, f.params.n_elements * sizeof *first);
    const uint64_t allocations = mem_allocations();
    for (int i = 0; i < 3; i++) {
        assert_true(step(&f, &dropout, 1.0f) == loss);
        assert_memory_equal(f.gradients, first, f.params.n_elements * sizeof *first);
    }
    assert_int_equal(mem_allocations(), allocations);
    const struct encoder_dropout other = {.seed = 5, .step = 2};
    assert_true(step(&f, &other, 1.0f) != loss);
    mem_free(first);
    fixture_fini(&f);
}

/* Evaluation shares the layers' arrays; its logits are those of the training model without dropout. */
static void evaluation_equals_training_without_dropout(void **state)
{
    (void)state;
    struct fixture f;
    fixture_init(&f, MODEL_DISTILBERT, 0.3f, 2);
    struct qa_model *evaluation;
    EXPECT_OK(qa_model_create(&f.config, &f.params, &f.compute, MAX_TOKENS, N_SEQS, 64, false,
                              &evaluation));
    const float *a, *b;
    EXPECT_OK(qa_model_predict(f.model, f.values, &f.batch, &a));
    EXPECT_OK(qa_model_predict(evaluation, f.values, &f.batch, &b));
    assert_memory_equal(a, b, 2 * f.batch.n_tokens * sizeof *a);
    qa_model_destroy(evaluation);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_the_losss),
        cmocka_unit_test(packing_changes_nothing),
        cmocka_unit_test(padding_word_gets_no_gradient),
        cmocka_unit_test(steps_repeat_bit_for_bit_and_allocate_nothing),
        cmocka_unit_test(evaluation_equals_training_without_dropout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
