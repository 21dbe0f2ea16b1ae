/* Logits of an evaluation: the largest batch, and the same bits for any number of ranks. */
#include "support.h"

#include <sys/wait.h>

#include "base/core/memory.h"
#include "learn/train/qa_logits.h"

enum { N_FEATURES = 11, MAX_LEN = 24, VOCAB = 30, BATCH = 2 };

static const struct model_config config = {
    .family = MODEL_BERT,
    .vocab_size = VOCAB,
    .hidden = 16,
    .n_layers = 2,
    .n_heads = 2,
    .intermediate = 32,
    .max_positions = MAX_LEN,
    .n_types = 2,
    .gelu = GELU_ERF,
    .norm_epsilon = 1e-12f,
    .initializer_range = 0.3f,
};

struct texts {
    struct qa_feature features[N_FEATURES];
    uint32_t ids[N_FEATURES][MAX_LEN];
    uint8_t types[N_FEATURES][MAX_LEN];
};

static struct qa_features make_features(struct texts *texts)
{
    memset(texts, 0, sizeof *texts);
    for (uint32_t f = 0; f < N_FEATURES; f++) {
        const uint32_t n = 1 + (f * 7) % MAX_LEN;
        texts->features[f] = (struct qa_feature){
            .example = f, .n_tokens = n, .ids = texts->ids[f], .types = texts->types[f]};
        for (uint32_t i = 0; i < n; i++) {
            texts->ids[f][i] = 1 + (f * 5 + i * 3) % (VOCAB - 1);
            texts->types[f][i] = i > n / 2;
        }
    }
    return (struct qa_features){.features = texts->features, .n_features = N_FEATURES};
}

static void the_largest_batch_holds_the_longest_features(void **state)
{
    (void)state;
    struct texts texts;
    const struct qa_features features = make_features(&texts);
    size_t max_tokens, max_len;
    EXPECT_OK(qa_logits_largest_batch(&features, 2, &max_tokens, &max_len));
    /* Lengths are 1, 8, 15, 22, 5, 12, 19, 2, 9, 16, 23. */
    assert_int_equal(max_tokens, 23 + 22);
    assert_int_equal(max_len, 23);
    /* No batch holds more than all. */
    EXPECT_OK(qa_logits_largest_batch(&features, N_FEATURES + 2, &max_tokens, &max_len));
    assert_int_equal(max_tokens, 1 + 8 + 15 + 22 + 5 + 12 + 19 + 2 + 9 + 16 + 23);
}

/* Computes on this process's rank and keeps all logits one behind the other. */
static size_t compute(float *out)
{
    struct texts texts;
    const struct qa_features features = make_features(&texts);
    struct params params;
    struct compute compute;
    float *values;
    yoke_comm *comm;
    struct qa_logits logits;
    EXPECT_OK(params_init(&config, HEAD_QA, &params));
    EXPECT_OK(compute_init(&compute, isa_detect(), 1));
    EXPECT_OK(MEM_NEW(values, params.n_elements));
    params_draw(&params, &config, 42, values);
    EXPECT_OK(yoke_comm_create_from_env(&comm));
    const struct qa_logits_job job = {.comm = comm,
                                      .compute = &compute,
                                      .config = &config,
                                      .params = &params,
                                      .values = values,
                                      .features = &features,
                                      .batch_size = BATCH};
    EXPECT_OK(qa_logits_compute(&job, &logits));
    size_t n = 0;
    for (size_t f = 0; f < N_FEATURES; f++) {
        const size_t n_floats = 2 * (size_t)features.features[f].n_tokens;
        memcpy(out + n, logits.features[f], n_floats * sizeof *out);
        n += n_floats;
    }
    qa_logits_fini(&logits);
    yoke_comm_destroy(comm);
    mem_free(values);
    compute_fini(&compute);
    params_fini(&params);
    return n;
}

static size_t compute_on_ranks(int size, float *out)
{
    char number[16], job[40];
    snprintf(job, sizeof job, "test-qa-logits-%d-%d", (int)getpid(), size);
    snprintf(number, sizeof number, "%d", size);
    setenv("WORLD_SIZE", number, 1);
    setenv("YOKE_JOB_ID", job, 1);
    for (int rank = 1; rank < size; rank++) {
        if (fork() == 0) {
            float own[2 * N_FEATURES * MAX_LEN];
            snprintf(number, sizeof number, "%d", rank);
            setenv("RANK", number, 1);
            compute(own);
            _exit(0);
        }
    }
    setenv("RANK", "0", 1);
    const size_t n = compute(out);
    for (int rank = 1; rank < size; rank++) {
        int result;
        wait(&result);
        assert_int_equal(result, 0);
    }
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    unsetenv("YOKE_JOB_ID");
    return n;
}

/* With more ranks than batches some have nothing to do. */
static void ranks_do_not_change_a_bit(void **state)
{
    (void)state;
    float one[2 * N_FEATURES * MAX_LEN], more[2 * N_FEATURES * MAX_LEN];
    static const int sizes[] = {2, 3, 7};
    size_t n = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        n = compute_on_ranks(sizes[i], more);
        compute(one);
        assert_int_equal(n, 2 * (1 + 8 + 15 + 22 + 5 + 12 + 19 + 2 + 9 + 16 + 23));
        assert_memory_equal(one, more, n * sizeof *one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_batch_holds_the_longest_features),
        cmocka_unit_test(ranks_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
