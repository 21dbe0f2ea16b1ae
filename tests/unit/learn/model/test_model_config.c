/* config.json: defaults, both families, what is refused, what a save changes. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/model/model_config.h"

#define GOLDEN YOKE_TEST_DATA "/golden/checkpoint/"

static char folder[64];
static char file[80];

static int set_up(void **state)
{
    (void)state;
    test_folder_make(folder);
    snprintf(file, sizeof file, "%s/config.json", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static void read_text(const char *text, struct model_config *config)
{
    EXPECT_OK(file_write_all(file, text, strlen(text)));
    EXPECT_OK(model_config_read(folder, config));
}

static void expect_refused(const char *text, yoke_status status, const char *part)
{
    struct model_config config = {0};
    EXPECT_OK(file_write_all(file, text, strlen(text)));
    EXPECT_FAIL(model_config_read(file, &config), status, part);
    assert_null(config.json);
}

static void test_missing_keys_take_the_references_defaults(void **state)
{
    (void)state;
    struct model_config config;
    read_text("{\"model_type\": \"distilbert\"}", &config);
    assert_int_equal(config.family, MODEL_DISTILBERT);
    assert_int_equal(config.vocab_size, 30522);
    assert_int_equal(config.hidden, 768);
    assert_int_equal(config.n_layers, 6);
    assert_int_equal(config.n_heads, 12);
    assert_int_equal(config.intermediate, 3072);
    assert_int_equal(config.max_positions, 512);
    assert_int_equal(config.n_types, 0);
    assert_int_equal(config.gelu, GELU_ERF);
    assert_true(config.norm_epsilon == 1e-12f && config.dropout == 0.1f);
    assert_true(config.attention_dropout == 0.1f && config.qa_dropout == 0.1f);
    assert_true(config.initializer_range == 0.02f);
    assert_int_equal(config.padding_id, 0);
    model_config_fini(&config);
    read_text("{\"model_type\": \"bert\"}", &config);
    assert_int_equal(config.n_layers, 12);
    assert_int_equal(config.n_types, 2);
    assert_true(config.qa_dropout == 0.0f && config.norm_epsilon == 1e-12f);
    model_config_fini(&config);
}

static void test_values_are_read(void **state)
{
    (void)state;
    struct model_config config;
    read_text(
        "{\"model_type\": \"bert\", \"vocab_size\": 99, \"hidden_size\": 12, "
        "\"num_hidden_layers\": 3, \"num_attention_heads\": 4, \"intermediate_size\": 20, "
        "\"max_position_embeddings\": 33, \"type_vocab_size\": 1, \"hidden_act\": \"gelu_new\", "
        "\"hidden_dropout_prob\": 0, \"attention_probs_dropout_prob\": 0.25, "
        "\"layer_norm_eps\": 1e-5, \"initializer_range\": 0.5, \"pad_token_id\": null, "
        "\"position_embedding_type\": \"absolute\", \"is_decoder\": false, \"pruned_heads\": {}}",
        &config);
    assert_int_equal(config.vocab_size, 99);
    assert_int_equal(config.hidden, 12);
    assert_int_equal(config.n_layers, 3);
    assert_int_equal(config.n_heads, 4);
    assert_int_equal(config.intermediate, 20);
    assert_int_equal(config.max_positions, 33);
    assert_int_equal(config.n_types, 1);
    assert_int_equal(config.gelu, GELU_TANH);
    assert_true(config.dropout == 0.0f && config.attention_dropout == 0.25f);
    assert_true(config.norm_epsilon == 1e-5f && config.initializer_range == 0.5f);
    assert_int_equal(config.padding_id, -1);
    model_config_fini(&config);
    read_text("{\"model_type\": \"distilbert\", \"hidden_size\": 24, \"num_hidden_layers\": 1, "
              "\"num_attention_heads\": 3, \"qa_dropout\": 0.5, \"initializer_range\": 0}",
              &config);
    assert_int_equal(config.hidden, 24);
    assert_int_equal(config.n_layers, 1);
    assert_int_equal(config.n_heads, 3);
    assert_true(config.qa_dropout == 0.5f && config.initializer_range == 0.02f);
    model_config_fini(&config);
}

static void test_what_cannot_be_computed_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        yoke_status status;
        const char *part;
    } cases[] = {
        {"[]", YOKE_ERR_FORMAT, "a JSON object"},
        {"{\"model_type\": \"bert\",}", YOKE_ERR_FORMAT, "config.json is not JSON: line 1"},
        {"{}", YOKE_ERR_FORMAT, "has no \"model_type\""},
        {"{\"model_type\": \"roberta\"}", YOKE_ERR_UNSUPPORTED, "model_type \"roberta\""},
        {"{\"model_type\": \"bert\", \"hidden_act\": \"relu\"}", YOKE_ERR_UNSUPPORTED,
         "\"hidden_act\": \"relu\" is not supported"},
        {"{\"model_type\": \"distilbert\", \"activation\": 3}", YOKE_ERR_UNSUPPORTED,
         "\"activation\": 3 is not supported"},
        {"{\"model_type\": \"bert\", \"position_embedding_type\": \"relative_key\"}",
         YOKE_ERR_UNSUPPORTED, "\"position_embedding_type\": \"relative_key\""},
        {"{\"model_type\": \"distilbert\", \"is_decoder\": true}", YOKE_ERR_UNSUPPORTED,
         "\"is_decoder\": true"},
        {"{\"model_type\": \"bert\", \"is_decoder\": true}", YOKE_ERR_UNSUPPORTED, "is_decoder"},
        {"{\"model_type\": \"bert\", \"pruned_heads\": {\"0\": [1]}}", YOKE_ERR_UNSUPPORTED,
         "\"pruned_heads\": {\"0\": [1]}"},
        {"{\"model_type\": \"bert\", \"num_attention_heads\": 5}", YOKE_ERR_FORMAT,
         "5 attention heads do not divide the width 768"},
        {"{\"model_type\": \"bert\", \"num_attention_heads\": 0}", YOKE_ERR_FORMAT,
         "\"num_attention_heads\" must be a whole number from 1"},
        {"{\"model_type\": \"bert\", \"vocab_size\": -1}", YOKE_ERR_FORMAT,
         "\"vocab_size\" must be"},
        {"{\"model_type\": \"bert\", \"vocab_size\": 1e3}", YOKE_ERR_FORMAT,
         "\"vocab_size\" must be"},
        {"{\"model_type\": \"bert\", \"hidden_size\": 99999999999999999999}", YOKE_ERR_FORMAT,
         "\"hidden_size\" must be"},
        {"{\"model_type\": \"bert\", \"hidden_dropout_prob\": 1.0}", YOKE_ERR_FORMAT,
         "\"hidden_dropout_prob\" must be a number from 0 to below 1"},
        {"{\"model_type\": \"bert\", \"hidden_dropout_prob\": \"0.1\"}", YOKE_ERR_FORMAT,
         "\"hidden_dropout_prob\" must be"},
        {"{\"model_type\": \"bert\", \"vocab_size\": 10, \"pad_token_id\": 10}", YOKE_ERR_FORMAT,
         "\"pad_token_id\" must be a token of the vocabulary, from 0 to 9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_refused(cases[i].text, cases[i].status, cases[i].part);
    }
    struct model_config config;
    EXPECT_FAIL(model_config_read("/nowhere", &config), YOKE_ERR_NOT_FOUND, "/nowhere");
}

static void expect_same_text(const char *a, const char *b)
{
    struct file_map x, y;
    EXPECT_OK(file_map_open(a, &x));
    EXPECT_OK(file_map_open(b, &y));
    assert_int_equal(x.size_bytes, y.size_bytes);
    assert_memory_equal(x.data, y.data, x.size_bytes);
    file_map_close(&x);
    file_map_close(&y);
}

static void test_the_references_file_is_written_back_byte_for_byte(void **state)
{
    (void)state;
    struct model_config config;
    EXPECT_OK(model_config_read(GOLDEN "bert", &config));
    EXPECT_OK(model_config_write(&config, "BertForQuestionAnswering", folder));
    expect_same_text(file, GOLDEN "bert/config.json");
    model_config_fini(&config);
    EXPECT_OK(model_config_read(GOLDEN "distilbert", &config));
    EXPECT_OK(model_config_write(&config, "DistilBertForQuestionAnswering", folder));
    expect_same_text(file, GOLDEN "distilbert/config.json");
    EXPECT_FAIL(model_config_write(&config, "DistilBertForQuestionAnswering", "/nowhere"),
                YOKE_ERR_IO, "/nowhere/config.json");
    model_config_fini(&config);
}

static void expect_written(const char *text, const char *wanted)
{
    struct model_config config;
    read_text(text, &config);
    EXPECT_OK(model_config_write(&config, "BertForQuestionAnswering", folder));
    struct file_map map;
    EXPECT_OK(file_map_open(file, &map));
    assert_int_equal(map.size_bytes, strlen(wanted));
    assert_memory_equal(map.data, wanted, map.size_bytes);
    file_map_close(&map);
    model_config_fini(&config);
}

static void test_a_save_keeps_unknown_keys_and_sets_its_own(void **state)
{
    (void)state;
    expect_written("{\"model_type\": \"bert\", \"x\": [1, 2.50], \"torch_dtype\": \"float16\", "
                   "\"architectures\": [\"BertModel\"], \"transformers_version\": \"4.6.0\"}",
                   "{\n  \"architectures\": [\n    \"BertForQuestionAnswering\"\n  ],\n"
                   "  \"model_type\": \"bert\",\n  \"torch_dtype\": \"float32\",\n"
                   "  \"transformers_version\": \"4.6.0\",\n  \"x\": [\n    1,\n    2.5\n  ]\n}\n");
    /* labels of a task with three classes would give the reference a head of three */
    expect_written("{\"model_type\": \"bert\", \"dtype\": \"bfloat16\", \"label2id\": {\"a\": 0, "
                   "\"b\": 1, \"c\": 2}, \"id2label\": {\"0\": \"a\", \"1\": \"b\", \"2\": \"c\"}}",
                   "{\n  \"architectures\": [\n    \"BertForQuestionAnswering\"\n  ],\n"
                   "  \"dtype\": \"float32\",\n  \"model_type\": \"bert\"\n}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_missing_keys_take_the_references_defaults, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_values_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_computed_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_references_file_is_written_back_byte_for_byte,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_save_keeps_unknown_keys_and_sets_its_own, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
