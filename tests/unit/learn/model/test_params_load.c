/* Folders written by the reference (tests/golden/checkpoint): every form gives the same values,
 * fresh values are the reference's, what does not fit is told. */
#include "support.h"

#include <math.h>

#include "base/core/memory.h"
#include "learn/format/safetensors.h"
#include "learn/model/params.h"

#define GOLDEN YOKE_TEST_DATA "/golden/checkpoint/"

struct loaded {
    struct model_config config;
    struct params params;
    float *values;
};

static void loaded_init(struct loaded *loaded, const char *config_folder)
{
    EXPECT_OK(model_config_read(config_folder, &loaded->config));
    EXPECT_OK(params_init(&loaded->config, HEAD_QA, &loaded->params));
    EXPECT_OK(MEM_NEW(loaded->values, loaded->params.n_elements));
}

static void loaded_fini(struct loaded *loaded)
{
    mem_free(loaded->values);
    params_fini(&loaded->params);
    model_config_fini(&loaded->config);
}

/* Every parameter equals the file's tensor of its name within `tolerance`. */
static void expect_values(const struct loaded *loaded, const char *path, float tolerance)
{
    struct safetensors *file;
    EXPECT_OK(safetensors_open(path, &file));
    for (size_t i = 0; i < loaded->params.n_params; i++) {
        const struct param *param = &loaded->params.table[i];
        const size_t index = safetensors_find(file, param->name);
        assert_true(index != SIZE_MAX);
        const float *wanted = safetensors_data(file, index);
        assert_int_equal(safetensors_get(file, index)->n_elements, param_size(param));
        for (size_t j = 0; j < param_size(param); j++) {
            const float value = loaded->values[param->offset + j];
            if (!(fabsf(value - wanted[j]) <= tolerance)) {
                fail_msg("%s: %s[%zu] is %.9g, wanted %.9g", path, param->name, j, (double)value,
                         (double)wanted[j]);
            }
        }
    }
    safetensors_close(file);
}

static void expect_folder(const char *folder, const char *expected, float tolerance)
{
    struct loaded loaded;
    loaded_init(&loaded, folder);
    EXPECT_OK(params_load(&loaded.params, &loaded.config, folder, 42, loaded.values));
    expect_values(&loaded, expected, tolerance);
    loaded_fini(&loaded);
}

static void test_every_form_of_a_folder_gives_the_same_values(void **state)
{
    (void)state;
    static const char *const folders[] = {
        GOLDEN "distilbert",          GOLDEN "distilbert-sharded",     GOLDEN "distilbert-bin",
        GOLDEN "distilbert-deflated", GOLDEN "distilbert-bin-sharded", GOLDEN "distilbert-views",
    };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        expect_folder(folders[i], GOLDEN "distilbert/model.safetensors", 0.0f);
    }
    expect_folder(GOLDEN "bert", GOLDEN "bert/model.safetensors", 0.0f);
}

static void test_other_types_are_converted(void **state)
{
    (void)state;
    expect_folder(GOLDEN "distilbert-mixed", GOLDEN "distilbert-mixed/expected.safetensors", 0.0f);
    expect_folder(GOLDEN "distilbert-mixed-bin", GOLDEN "distilbert-mixed-bin/expected.safetensors",
                  0.0f);
}

/* Drawn values: logarithm, sine and cosine differ in their last digits between libraries. */
static const float drawn_tolerance = 2e-8f;

static void test_base_models_get_the_head_that_the_reference_draws(void **state)
{
    (void)state;
    expect_folder(GOLDEN "distilbert-base", GOLDEN "distilbert-base/expected.safetensors",
                  drawn_tolerance);
    expect_folder(GOLDEN "bert-base-gamma", GOLDEN "bert-base-gamma/expected.safetensors",
                  drawn_tolerance);
}

static void test_fresh_values_are_the_references(void **state)
{
    (void)state;
    static const char *const folders[] = {GOLDEN "distilbert-fresh", GOLDEN "bert-fresh",
                                          GOLDEN "distilbert-sinusoidal"};
    for (int i = 0; i < 3; i++) {
        struct loaded loaded;
        char path[512];
        loaded_init(&loaded, folders[i]);
        params_draw(&loaded.params, &loaded.config, 42, loaded.values);
        snprintf(path, sizeof path, "%s/model.safetensors", folders[i]);
        expect_values(&loaded, path, drawn_tolerance);
        loaded_fini(&loaded);
    }
}

static void test_a_saved_folder_loads_with_equal_values(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    struct loaded loaded;
    loaded_init(&loaded, GOLDEN "bert");
    EXPECT_OK(params_load(&loaded.params, &loaded.config, GOLDEN "bert", 42, loaded.values));
    EXPECT_OK(model_config_write(&loaded.config, "BertForQuestionAnswering", folder));
    EXPECT_OK(params_save(&loaded.params, loaded.values, folder));
    expect_folder(folder, GOLDEN "bert/model.safetensors", 0.0f);
    EXPECT_FAIL(params_save(&loaded.params, loaded.values, "/nowhere"), YOKE_ERR_IO, "/nowhere");
    loaded_fini(&loaded);
    test_folder_remove(folder);
}

static void test_what_does_not_fit_is_an_error(void **state)
{
    (void)state;
    struct loaded loaded;
    loaded_init(&loaded, GOLDEN "distilbert");
    EXPECT_FAIL(params_load(&loaded.params, &loaded.config, "/nowhere", 42, loaded.values),
                YOKE_ERR_NOT_FOUND, "/nowhere has no weights");
    EXPECT_FAIL(params_load(&loaded.params, &loaded.config, GOLDEN "bert", 42, loaded.values),
                YOKE_ERR_FORMAT, "no tensor of its weights is one of this model's encoder");
    loaded_fini(&loaded);

    EXPECT_OK(model_config_read(GOLDEN "distilbert", &loaded.config));
    loaded.config.vocab_size++;
    EXPECT_OK(params_init(&loaded.config, HEAD_QA, &loaded.params));
    EXPECT_OK(MEM_NEW(loaded.values, loaded.params.n_elements));
    EXPECT_FAIL(params_load(&loaded.params, &loaded.config, GOLDEN "distilbert", 42, loaded.values),
                YOKE_ERR_FORMAT,
                "distilbert/model.safetensors: tensor "
                "distilbert.embeddings.word_embeddings.weight has the shape [30, 16], but the "
                "model's configuration makes it [31, 16]");
    loaded_fini(&loaded);
}

/* Standard error while `folder` is loaded. */
static void read_warnings(const char *folder, char *text, size_t size)
{
    FILE *capture = tmpfile();
    const int saved = dup(STDERR_FILENO);
    struct loaded loaded;
    loaded_init(&loaded, folder);
    dup2(fileno(capture), STDERR_FILENO);
    const yoke_status status =
        params_load(&loaded.params, &loaded.config, folder, 42, loaded.values);
    dup2(saved, STDERR_FILENO);
    close(saved);
    EXPECT_OK(status);
    rewind(capture);
    text[fread(text, 1, size - 1, capture)] = '\0';
    fclose(capture);
    loaded_fini(&loaded);
}

static void test_missing_and_unexpected_weights_are_reported(void **state)
{
    (void)state;
    char text[8192];
    read_warnings(GOLDEN "bert-base-gamma", text, sizeof text);
    assert_non_null(strstr(text, "bert-base-gamma were not used when initializing "
                                 "BertForQuestionAnswering: ['pooler.dense.bias', "
                                 "'pooler.dense.weight']"));
    assert_non_null(strstr(text, "Some weights of BertForQuestionAnswering were not initialized "
                                 "from the model checkpoint at "));
    assert_non_null(strstr(text, "are newly initialized: ['qa_outputs.weight', "
                                 "'qa_outputs.bias']. You should probably TRAIN this model"));
    assert_null(strstr(text, "position_ids"));
    read_warnings(GOLDEN "distilbert", text, sizeof text);
    assert_string_equal(text, "");
}

static void test_long_lists_are_cut(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    char path[128];
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    static const float ones[16] = {1.0f, 1.0f};
    char names[12][32];
    struct safetensors_item items[13];
    for (int i = 0; i < 12; i++) {
        snprintf(names[i], sizeof names[i], "other.%02d", i);
        items[i] = (struct safetensors_item){safetensors_info(names[i], TENSOR_F32, 2, 0), ones};
    }
    items[12] = (struct safetensors_item){
        safetensors_info("distilbert.embeddings.LayerNorm.bias", TENSOR_F32, 16, 0), ones};
    EXPECT_OK(safetensors_write(path, items, 13));
    test_file_copy(GOLDEN "distilbert/config.json", strcat(strcpy(path, folder), "/config.json"));
    char text[8192];
    read_warnings(folder, text, sizeof text);
    assert_non_null(strstr(text, "'other.07' and 4 more]"));
    assert_null(strstr(text, "other.08"));
    assert_non_null(strstr(text, "and 29 more]")); /* 38 parameters, one found, 8 named */
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_form_of_a_folder_gives_the_same_values),
        cmocka_unit_test(test_other_types_are_converted),
        cmocka_unit_test(test_base_models_get_the_head_that_the_reference_draws),
        cmocka_unit_test(test_fresh_values_are_the_references),
        cmocka_unit_test(test_a_saved_folder_loads_with_equal_values),
        cmocka_unit_test(test_what_does_not_fit_is_an_error),
        cmocka_unit_test(test_missing_and_unexpected_weights_are_reported),
        cmocka_unit_test(test_long_lists_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
