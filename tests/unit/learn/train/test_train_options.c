/* The training arguments: both spellings, refusals, and the state file. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/train/train_options.h"
#include "learn/train/trainer_state.h"

struct fixture {
    struct train_options options;
    struct option_set set;
};

static yoke_status parse(struct fixture *f, const char *line)
{
    char copy[512];
    char *argv[64];
    int argc = 0;
    memset(f, 0, sizeof *f);
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        argv[argc++] = word;
    }
    const struct option_table table = {train_option_defs, train_n_option_defs, &f->options};
    EXPECT_OK(option_set_init(&f->set, &table, 1));
    return option_set_parse(&f->set, argc, argv, NULL);
}

static void expect_refused(const char *line, yoke_status status, const char *part)
{
    struct fixture f;
    EXPECT_OK(parse(&f, line));
    EXPECT_FAIL(train_options_check(&f.options), status, part);
    option_set_fini(&f.set);
}

static void defaults_are_the_references(void **state)
{
    (void)state;
    struct fixture f;
    EXPECT_OK(parse(&f, ""));
    EXPECT_OK(train_options_check(&f.options));
    assert_true(f.options.learning_rate == 5e-5);
    assert_true(f.options.num_train_epochs == 3.0);
    assert_true(f.options.adam_beta2 == 0.999 && f.options.adam_epsilon == 1e-8);
    assert_true(f.options.max_grad_norm == 1.0);
    assert_int_equal(f.options.per_device_train_batch_size, 8);
    assert_int_equal(f.options.seed, 42);
    assert_int_equal(f.options.save_strategy, TRAIN_STEPS);
    assert_int_equal(f.options.eval_strategy, TRAIN_NEVER);
    assert_int_equal(train_options_schedule(&f.options), SCHEDULE_LINEAR);
    option_set_fini(&f.set);
}

static void both_spellings_mean_the_same(void **state)
{
    (void)state;
    struct fixture f;
    EXPECT_OK(parse(
        &f, "--no_cuda --xpu_backend ccl --evaluation_strategy epoch --warmup_steps 0.1 "
            "--lr-scheduler-type constant_with_warmup --save_steps=0.5 --optim adamw_torch_fused"));
    EXPECT_OK(train_options_check(&f.options));
    assert_true(f.options.use_cpu);
    assert_int_equal(f.options.eval_strategy, TRAIN_EPOCH);
    assert_true(f.options.warmup_steps == 0.1);
    assert_int_equal(train_options_schedule(&f.options), SCHEDULE_CONSTANT_WITH_WARMUP);
    assert_true(f.options.save_steps == 0.5);
    option_set_fini(&f.set);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    expect_refused("--fp16", YOKE_ERR_UNSUPPORTED, "--fp16");
    expect_refused("--do_predict", YOKE_ERR_UNSUPPORTED, "--do_predict");
    expect_refused("--lr_scheduler_type cosine", YOKE_ERR_UNSUPPORTED, "constant_with_warmup");
    expect_refused("--load_best_model_at_end", YOKE_ERR_UNSUPPORTED, "later version");
    expect_refused("--save_safetensors false", YOKE_ERR_UNSUPPORTED, "safetensors");
    expect_refused("--output_dir=", YOKE_ERR_INVALID, "--output_dir");
    expect_refused("--push_to_hub", YOKE_ERR_UNSUPPORTED, "--push_to_hub");
    expect_refused("--deepspeed ds.json", YOKE_ERR_UNSUPPORTED, "--deepspeed");
    expect_refused("--label_smoothing_factor 0.1", YOKE_ERR_UNSUPPORTED,
                   "--label_smoothing_factor");
    expect_refused("--warmup_steps 1.5", YOKE_ERR_INVALID, "--warmup_steps 1.5");
    expect_refused("--adam_beta2 1", YOKE_ERR_INVALID, "--adam_beta2");
    struct fixture f;
    EXPECT_FAIL(parse(&f, "--optim adafactor"), YOKE_ERR_INVALID, "adamw_torch");
    option_set_fini(&f.set);
    EXPECT_FAIL(parse(&f, "--per_device_train_batch_size 0"), YOKE_ERR_INVALID, "1..65536");
    option_set_fini(&f.set);
    EXPECT_FAIL(parse(&f, "--num_train_epoch5 1"), YOKE_ERR_INVALID, "num_train_epochs");
    option_set_fini(&f.set);
}

static void options_become_json(void **state)
{
    (void)state;
    struct fixture f;
    json_t *json;
    EXPECT_OK(parse(&f, "--bf16 --seed 7 --save_strategy epoch"));
    EXPECT_OK(train_options_to_json(&f.set, &json));
    assert_true(json_is_true(json_object_get(json, "bf16")));
    assert_int_equal(json_integer_value(json_object_get(json, "seed")), 7);
    assert_string_equal(json_string_value(json_object_get(json, "save_strategy")), "epoch");
    assert_true(json_real_value(json_object_get(json, "learning_rate")) == 5e-5);
    assert_true(json_is_null(json_object_get(json, "run_name")));
    json_decref(json);
    option_set_fini(&f.set);
}

static void the_state_survives_its_file(void **state)
{
    (void)state;
    char folder[64];
    struct trainer_state a, b;
    test_folder_make(folder);
    EXPECT_OK(trainer_state_init(&a));
    EXPECT_OK(trainer_state_init(&b));
    a.global_step = 12;
    a.epoch = 1.25;
    a.total_flos = 3e15;
    a.max_steps = b.max_steps = 20;
    a.n_tokens = 1000;
    a.shows_tokens = true;
    json_t *entry = json_object();
    json_object_set_new(entry, "loss", json_real(0.5));
    EXPECT_OK(trainer_state_log(&a, entry));
    EXPECT_OK(trainer_state_write(&a, folder));
    EXPECT_OK(trainer_state_read(&b, folder, true));
    assert_int_equal(b.global_step, 12);
    assert_true(b.epoch == 1.25 && b.total_flos == 3e15);
    assert_int_equal(b.n_tokens, 1000);
    const json_t *logged = json_array_get(b.log_history, 0);
    assert_int_equal(json_integer_value(json_object_get(logged, "step")), 12);
    assert_true(json_real_value(json_object_get(logged, "loss")) == 0.5);
    assert_null(json_object_get(entry, "step")); /* the caller's object is not changed */
    char path[128];
    snprintf(path, sizeof path, "%s/trainer_state.json", folder);
    EXPECT_OK(file_write_all(path, "{\"global_step\": -1}", 19));
    EXPECT_FAIL(trainer_state_read(&b, folder, true), YOKE_ERR_FORMAT, "global_step");
    const char *huge = "{\"global_step\": 1, \"epoch\": 1, \"total_flos\": 1, \"log_history\": [],"
                       " \"num_input_tokens_seen\": 1e300}";
    EXPECT_OK(file_write_all(path, huge, strlen(huge)));
    EXPECT_FAIL(trainer_state_read(&b, folder, true), YOKE_ERR_FORMAT, "num_input_tokens_seen");
    assert_int_equal(b.n_tokens, 1000);
    json_decref(entry);
    trainer_state_fini(&a);
    trainer_state_fini(&b);
    test_folder_remove(folder);
}

static void the_state_file_has_the_references_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {"best_global_step",
                                       "best_metric",
                                       "best_model_checkpoint",
                                       "epoch",
                                       "eval_steps",
                                       "global_step",
                                       "is_hyper_param_search",
                                       "is_local_process_zero",
                                       "is_world_process_zero",
                                       "log_history",
                                       "logging_steps",
                                       "max_steps",
                                       "num_input_tokens_seen",
                                       "num_train_epochs",
                                       "save_steps",
                                       "stateful_callbacks",
                                       "total_flos",
                                       "train_batch_size",
                                       "trial_name",
                                       "trial_params"};
    char folder[64], path[128];
    struct trainer_state s;
    json_t *json;
    test_folder_make(folder);
    EXPECT_OK(trainer_state_init(&s));
    EXPECT_OK(trainer_state_write(&s, folder));
    snprintf(path, sizeof path, "%s/trainer_state.json", folder);
    EXPECT_OK(json_read_file(path, &json));
    assert_int_equal(json_object_size(json), sizeof keys / sizeof keys[0]);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_non_null(json_object_get(json, keys[i]));
    }
    json_decref(json);
    trainer_state_fini(&s);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_the_references),
        cmocka_unit_test(both_spellings_mean_the_same),
        cmocka_unit_test(what_is_not_there_is_refused),
        cmocka_unit_test(options_become_json),
        cmocka_unit_test(the_state_survives_its_file),
        cmocka_unit_test(the_state_file_has_the_references_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
