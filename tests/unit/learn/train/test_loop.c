/* The training loop on a task small enough to be exact: a linear function of three inputs, with a
 * noise that has dropout's address. Resuming, accumulation, ranks, bad losses, allocations. */
#include "support.h"

#include <math.h>
#include <sys/wait.h>

#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/train/loop.h"

enum { N_EXAMPLES = 22, N_INPUTS = 3, WEIGHT = 0, BIAS = 16, N_ELEMENTS = 17 };

static struct param table[] = {
    {.name = "line.weight", .offset = WEIGHT, .rows = N_INPUTS, .columns = 1, .decays = true},
    {.name = "line.bias", .offset = BIAS, .rows = 1},
};
static const struct params params = {
    .table = table, .n_params = 2, .n_elements = N_ELEMENTS, .n_trainable = N_INPUTS + 1};

/* One run: options as a user gives them, and the task's own state. */
struct fixture {
    struct train_options options;
    struct option_set set;
    struct compute compute;
    yoke_comm *comm;
    struct trainer_state state;
    json_t *metrics;
    float *values;
    int64_t bad_at; /* the call of step that yields NaN; 0 for none */
    int64_t n_calls;
    uint64_t first_allocations, last_allocations;
};

static void add_example(void *context, size_t example, struct batch *batch)
{
    (void)context;
    const uint32_t id = 0;
    batch_add(batch, (uint32_t)example, 1, &id, NULL, 0, 0);
}

static void make_inputs(uint32_t example, float *x)
{
    for (int i = 0; i < N_INPUTS; i++) {
        x[i] = sinf((float)example * (0.7f + 0.9f * (float)i) + (float)i);
    }
}

static yoke_status step(void *context, const float *values, const struct batch *batch,
                        const struct encoder_dropout *dropout, float gradient_scale,
                        double *loss_out, float *gradients)
{
    struct fixture *f = context;
    double loss = 0.0;
    for (size_t s = 0; s < batch->n_seqs; s++) {
        const uint32_t example = batch->examples[s];
        float x[N_INPUTS];
        make_inputs(example, x);
        const float target = 2.0f * x[0] - x[1] + 0.5f;
        const float noise = 0.01f * (float)((dropout->step * 31 + example * 7) % 5);
        float y = values[BIAS] + noise;
        for (int i = 0; i < N_INPUTS; i++) {
            y += values[WEIGHT + i] * x[i];
        }
        const float error = y - target;
        const float slope = error * gradient_scale / (float)batch->n_seqs;
        loss += 0.5 * error * error / (double)batch->n_seqs;
        gradients[BIAS] += slope;
        for (int i = 0; i < N_INPUTS; i++) {
            gradients[WEIGHT + i] += slope * x[i];
        }
    }
    f->n_calls++;
    f->last_allocations = mem_allocations();
    f->first_allocations = f->n_calls == 2 ? f->last_allocations : f->first_allocations;
    *loss_out = f->n_calls == f->bad_at ? NAN : loss;
    return YOKE_OK;
}

static yoke_status save(void *context, const char *folder, const char *shown_as)
{
    (void)shown_as;
    struct fixture *f = context;
    char *path = str_path(folder, "values");
    const yoke_status status = file_write_all(path, f->values, N_ELEMENTS * sizeof(float));
    mem_free(path);
    return status;
}

static yoke_status evaluate(void *context, json_t *metrics)
{
    struct fixture *f = context;
    json_object_set_new(metrics, "eval_bias", json_real(f->values[BIAS]));
    return YOKE_OK;
}

static void fixture_init(struct fixture *f, const char *line)
{
    char copy[512];
    char *argv[64];
    int argc = 0;
    memset(f, 0, sizeof *f);
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    const struct option_table options = {train_option_defs, train_n_option_defs, &f->options};
    EXPECT_OK(option_set_init(&f->set, &options, 1));
    EXPECT_OK(option_set_parse(&f->set, argc, argv, NULL));
    EXPECT_OK(compute_init(&f->compute, ISA_REF, 1));
    EXPECT_OK(yoke_comm_create_from_env(&f->comm));
    EXPECT_OK(trainer_state_init(&f->state));
    f->metrics = json_object();
    void *values;
    const size_t n = optimizer_n_padded(&params, yoke_comm_size(f->comm));
    EXPECT_OK(yoke_comm_alloc(f->comm, n * sizeof(float), &values));
    f->values = values;
}

static void fixture_fini(struct fixture *f)
{
    json_decref(f->metrics);
    trainer_state_fini(&f->state);
    compute_fini(&f->compute);
    yoke_comm_destroy(f->comm);
    option_set_fini(&f->set);
}

static yoke_status run(struct fixture *f, const char *resume)
{
    const struct train_task task = {f, N_EXAMPLES, add_example, step, evaluate, save};
    const struct train_run train = {
        .options = &f->options,
        .task = &task,
        .comm = f->comm,
        .compute = &f->compute,
        .params = &params,
        .values = f->values,
        .max_tokens = (size_t)f->options.per_device_train_batch_size,
        .resume_folder = resume,
    };
    if (resume) {
        char *path = str_path(resume, "values");
        struct file_map map;
        EXPECT_OK(file_map_open(path, &map));
        memcpy(f->values, map.data, N_ELEMENTS * sizeof(float));
        file_map_close(&map);
        mem_free(path);
    }
    return train_loop(&train, &f->state, f->metrics);
}

/* Runs a command line from zero values and keeps what it learnt. */
static void train(const char *line, const char *resume, float values[static N_ELEMENTS])
{
    struct fixture f;
    fixture_init(&f, line);
    EXPECT_OK(run(&f, resume));
    memcpy(values, f.values, N_ELEMENTS * sizeof(float));
    fixture_fini(&f);
}

static double metric(const struct fixture *f, const char *key)
{
    return json_number_value(json_object_get(f->metrics, key));
}

static void a_line_is_learnt(void **state)
{
    (void)state;
    char folder[64], line[256];
    struct fixture f;
    test_folder_make(folder);
    snprintf(
        line, sizeof line,
        "--output_dir %s --num_train_epochs 40 --learning_rate 0.1 --save_strategy no "
        "--logging_steps 10 --eval_strategy epoch --eval_delay 39 --per_device_train_batch_size 4",
        folder);
    fixture_init(&f, line);
    EXPECT_OK(run(&f, NULL));
    assert_true(fabsf(f.values[WEIGHT] - 2.0f) < 0.1f && fabsf(f.values[WEIGHT + 1] + 1.0f) < 0.1f);
    assert_int_equal(f.state.global_step, 240);
    assert_true(f.state.epoch == 40.0);
    assert_true(metric(&f, "train_loss") > 0.0 && metric(&f, "epoch") == 40.0);
    /* 22 examples, 40 epochs, of one token each; no parameter of the task only looks up. */
    assert_true(metric(&f, "total_flos") == 6.0 * 22 * 40 * (N_INPUTS + 1));
    /* 24 logs, the evaluations after epochs 39 and 40, the summary. */
    assert_int_equal(json_array_size(f.state.log_history), 24 + 2 + 1);
    const json_t *first = json_array_get(f.state.log_history, 0);
    assert_int_equal(json_integer_value(json_object_get(first, "step")), 10);
    /* The rate of the step that was just made: number 9 of 240. */
    const double rate = json_real_value(json_object_get(first, "learning_rate"));
    assert_true(fabs(rate - 0.1 * (240 - 9) / 240) < 1e-12);
    fixture_fini(&f);
    test_folder_remove(folder);
}

static void a_resumed_run_continues_bit_for_bit(void **state)
{
    (void)state;
    char folder[64], other[64], line[256], checkpoint[128];
    float whole[N_ELEMENTS], resumed[N_ELEMENTS];
    test_folder_make(folder);
    test_folder_make(other);
    const char *options = "--max_steps 20 --learning_rate 0.05 --warmup_steps 3 --weight_decay 0.1 "
                          "--gradient_accumulation_steps 2 --per_device_train_batch_size 3";
    snprintf(line, sizeof line, "--output_dir %s --save_steps 1 %s", folder, options);
    train(line, NULL, whole);
    for (int k = 1; k < 20; k++) {
        snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint-%d", folder, k);
        snprintf(line, sizeof line, "--output_dir %s --save_strategy no %s", other, options);
        train(line, checkpoint, resumed);
        assert_memory_equal(whole, resumed, sizeof whole);
    }
    test_folder_remove(folder);
    test_folder_remove(other);
}

static void a_checkpoint_without_moments_is_refused(void **state)
{
    (void)state;
    char folder[64], line[256], checkpoint[128];
    float values[N_ELEMENTS];
    struct fixture f;
    test_folder_make(folder);
    snprintf(line, sizeof line, "--output_dir %s --max_steps 2 --save_only_model", folder);
    train(line, NULL, values);
    fixture_init(&f, line);
    snprintf(checkpoint, sizeof checkpoint, "%s/checkpoint-2", folder);
    EXPECT_FAIL(run(&f, checkpoint), YOKE_ERR_NOT_FOUND, "optimizer.safetensors");
    fixture_fini(&f);
    test_folder_remove(folder);
}

static void expect_close(const float *a, const float *b)
{
    for (int i = 0; i < N_ELEMENTS; i++) {
        if (fabsf(a[i] - b[i]) > 2e-6f * (1.0f + fabsf(a[i]))) {
            fail_msg("element %d: %.9g and %.9g", i, (double)a[i], (double)b[i]);
        }
    }
}

static void accumulated_batches_are_one_large_batch(void **state)
{
    (void)state;
    char folder[64], line[256];
    float large[N_ELEMENTS], small[N_ELEMENTS];
    test_folder_make(folder);
    const char *options =
        "--max_steps 4 --learning_rate 0.05 --save_strategy no --dataloader_drop_last";
    snprintf(line, sizeof line, "--output_dir %s --per_device_train_batch_size 10 %s", folder,
             options);
    train(line, NULL, large);
    snprintf(line, sizeof line,
             "--output_dir %s --per_device_train_batch_size 5 --gradient_accumulation_steps 2 %s",
             folder, options);
    train(line, NULL, small);
    expect_close(large, small);
    test_folder_remove(folder);
}

static void a_bad_loss_ends_the_run(void **state)
{
    (void)state;
    char folder[64], line[256], path[128];
    float before[N_ELEMENTS];
    struct fixture f;
    test_folder_make(folder);
    const char *options = "--learning_rate 0.05 --lr_scheduler_type constant --save_steps 1";
    snprintf(line, sizeof line, "--output_dir %s --max_steps 2 %s", folder, options);
    train(line, NULL, before);
    snprintf(line, sizeof line, "--output_dir %s --max_steps 9 %s", folder, options);
    fixture_init(&f, line);
    f.bad_at = 3;
    EXPECT_FAIL(run(&f, NULL), YOKE_ERR_NUMERIC, "training step 3 of 9");
    assert_memory_equal(before, f.values, sizeof before);
    snprintf(path, sizeof path, "%s/checkpoint-3", folder);
    assert_false(file_exists(path));
    fixture_fini(&f);
    test_folder_remove(folder);
}

static void checkpoints_rotate(void **state)
{
    (void)state;
    char folder[64], line[256], path[128];
    float values[N_ELEMENTS];
    test_folder_make(folder);
    snprintf(line, sizeof line,
             "--output_dir %s --max_steps 12 --save_steps 3 --save_total_limit 2", folder);
    train(line, NULL, values);
    for (int k = 3; k <= 12; k += 3) {
        snprintf(path, sizeof path, "%s/checkpoint-%d/optimizer.safetensors", folder, k);
        assert_int_equal(file_exists(path), k >= 9);
    }
    test_folder_remove(folder);
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
    char folder[64], line[256];
    struct fixture f;
    test_folder_make(folder);
    snprintf(line, sizeof line, "--output_dir %s --num_train_epochs 5 --save_strategy no", folder);
    fixture_init(&f, line);
    EXPECT_OK(run(&f, NULL));
    assert_true(f.n_calls == 15 && f.first_allocations > 0);
    assert_int_equal(f.first_allocations, f.last_allocations);
    fixture_fini(&f);
    test_folder_remove(folder);
}

/* What one rank of `size` learns from the line; rank 0 is this process, the others are children. */
static void train_on_ranks(int size, const char *line, const char *resume,
                           float values[static N_ELEMENTS])
{
    char number[16], job[32];
    snprintf(number, sizeof number, "%d", size);
    snprintf(job, sizeof job, "test-loop-%d", (int)getpid());
    setenv("WORLD_SIZE", number, 1);
    setenv("YOKE_JOB_ID", job, 1);
    for (int rank = 1; rank < size; rank++) {
        if (fork() == 0) {
            float own[N_ELEMENTS];
            snprintf(number, sizeof number, "%d", rank);
            setenv("RANK", number, 1);
            setenv("LOCAL_RANK", number, 1);
            train(line, resume, own);
            _exit(0);
        }
    }
    setenv("RANK", "0", 1);
    setenv("LOCAL_RANK", "0", 1);
    train(line, resume, values);
    for (int rank = 1; rank < size; rank++) {
        int result;
        wait(&result);
        assert_int_equal(result, 0);
    }
    unsetenv("RANK");
    unsetenv("LOCAL_RANK");
    unsetenv("WORLD_SIZE");
    unsetenv("YOKE_JOB_ID");
}

/* 22 examples in rounds of 4: the last round of an epoch has none for the second rank. */
static void ranks_learn_what_one_rank_learns(void **state)
{
    (void)state;
    char folder[64], line[256], checkpoint[128];
    float one[N_ELEMENTS], two[N_ELEMENTS], resumed[N_ELEMENTS];
    test_folder_make(folder);
    const char *options = "--max_steps 9 --learning_rate 0.05 --weight_decay 0.1 --save_steps 3";
    snprintf(line, sizeof line, "--output_dir %s/one --per_device_train_batch_size 4 %s", folder,
             options);
    train(line, NULL, one);
    snprintf(line, sizeof line, "--output_dir %s/two --per_device_train_batch_size 2 %s", folder,
             options);
    train_on_ranks(2, line, NULL, two);
    expect_close(one, two);
    /* Two ranks' checkpoint holds complete moments: one rank continues from it. */
    snprintf(checkpoint, sizeof checkpoint, "%s/two/checkpoint-3", folder);
    snprintf(line, sizeof line, "--output_dir %s/one --per_device_train_batch_size 4 %s", folder,
             options);
    train(line, checkpoint, resumed);
    expect_close(one, resumed);
    snprintf(line, sizeof line, "--output_dir %s/two --per_device_train_batch_size 2 %s", folder,
             options);
    train_on_ranks(2, line, checkpoint, resumed);
    assert_memory_equal(two, resumed, sizeof two);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_learnt),
        cmocka_unit_test(a_resumed_run_continues_bit_for_bit),
        cmocka_unit_test(a_checkpoint_without_moments_is_refused),
        cmocka_unit_test(accumulated_batches_are_one_large_batch),
        cmocka_unit_test(a_bad_loss_ends_the_run),
        cmocka_unit_test(checkpoints_rotate),
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(ranks_learn_what_one_rank_learns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
