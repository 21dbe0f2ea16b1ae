/* The layout of the flat array: names, order, alignment, fused pieces, decay. */
#include "support.h"

#include "learn/model/params.h"

static struct model_config make_config(enum model_family family, size_t hidden)
{
    return (struct model_config){.family = family,
                                 .vocab_size = 11,
                                 .hidden = hidden,
                                 .n_layers = 3,
                                 .n_heads = 2,
                                 .intermediate = 9,
                                 .max_positions = 7,
                                 .n_types = family == MODEL_BERT ? 2 : 0,
                                 .initializer_range = 0.02f,
                                 .padding_id = 3};
}

static const struct param *find(const struct params *params, const char *name)
{
    for (size_t i = 0; i < params->n_params; i++) {
        if (strcmp(params->table[i].name, name) == 0) {
            return &params->table[i];
        }
    }
    fail_msg("no parameter %s", name);
    return NULL;
}

static void expect_at(const struct params *params, const char *name, size_t offset, size_t rows,
                      size_t columns, bool decays)
{
    const struct param *param = find(params, name);
    assert_int_equal(param->offset, offset);
    assert_int_equal(param->rows, rows);
    assert_int_equal(param->columns, columns);
    assert_int_equal(param->decays, decays);
}

static void test_distilbert_names_and_offsets(void **state)
{
    (void)state;
    const struct model_config config = make_config(MODEL_DISTILBERT, 10);
    struct params params;
    EXPECT_OK(params_init(&config, HEAD_QA, &params));
    assert_int_equal(params.n_params, 4 + 3 * 16 + 2);
    const struct layer_params *layer = &params.layers[1];
    expect_at(&params, "distilbert.embeddings.word_embeddings.weight", 0, 11, 10, true);
    expect_at(&params, "distilbert.embeddings.position_embeddings.weight", 112, 7, 10, true);
    expect_at(&params, "distilbert.embeddings.LayerNorm.weight", params.embedding_norm_gamma, 10, 0,
              false);
    expect_at(&params, "distilbert.transformer.layer.1.attention.q_lin.weight", layer->qkv_weight,
              10, 10, true);
    expect_at(&params, "distilbert.transformer.layer.1.attention.k_lin.weight",
              layer->qkv_weight + 100, 10, 10, true);
    expect_at(&params, "distilbert.transformer.layer.1.attention.v_lin.weight",
              layer->qkv_weight + 200, 10, 10, true);
    expect_at(&params, "distilbert.transformer.layer.1.attention.v_lin.bias", layer->qkv_bias + 20,
              10, 0, false);
    expect_at(&params, "distilbert.transformer.layer.1.attention.out_lin.weight", layer->out_weight,
              10, 10, true);
    expect_at(&params, "distilbert.transformer.layer.1.sa_layer_norm.weight",
              layer->attention_norm_gamma, 10, 0, false);
    expect_at(&params, "distilbert.transformer.layer.1.sa_layer_norm.bias",
              layer->attention_norm_beta, 10, 0, false);
    expect_at(&params, "distilbert.transformer.layer.1.ffn.lin1.weight", layer->up_weight, 9, 10,
              true);
    expect_at(&params, "distilbert.transformer.layer.1.ffn.lin2.bias", layer->down_bias, 10, 0,
              false);
    expect_at(&params, "distilbert.transformer.layer.1.output_layer_norm.bias",
              layer->output_norm_beta, 10, 0, false);
    expect_at(&params, "qa_outputs.weight", params.head_weight, 2, 10, true);
    expect_at(&params, "qa_outputs.bias", params.head_bias, 2, 0, false);
    params_fini(&params);
}

static void test_bert_names_and_offsets(void **state)
{
    (void)state;
    const struct model_config config = make_config(MODEL_BERT, 12);
    struct params params;
    EXPECT_OK(params_init(&config, HEAD_QA, &params));
    assert_int_equal(params.n_params, 5 + 3 * 16 + 2);
    const struct layer_params *layer = &params.layers[2];
    expect_at(&params, "bert.embeddings.token_type_embeddings.weight", params.type_table, 2, 12,
              true);
    expect_at(&params, "bert.encoder.layer.2.attention.self.query.weight", layer->qkv_weight, 12,
              12, true);
    expect_at(&params, "bert.encoder.layer.2.attention.self.value.weight", layer->qkv_weight + 288,
              12, 12, true);
    expect_at(&params, "bert.encoder.layer.2.attention.self.key.bias", layer->qkv_bias + 12, 12, 0,
              false);
    expect_at(&params, "bert.encoder.layer.2.attention.output.dense.bias", layer->out_bias, 12, 0,
              false);
    expect_at(&params, "bert.encoder.layer.2.attention.output.LayerNorm.weight",
              layer->attention_norm_gamma, 12, 0, false);
    expect_at(&params, "bert.encoder.layer.2.intermediate.dense.weight", layer->up_weight, 9, 12,
              true);
    expect_at(&params, "bert.encoder.layer.2.output.dense.weight", layer->down_weight, 12, 9, true);
    expect_at(&params, "bert.encoder.layer.2.output.LayerNorm.bias", layer->output_norm_beta, 12, 0,
              false);
    params_fini(&params);
}

static void expect_sound_layout(const struct model_config *config)
{
    struct params params;
    EXPECT_OK(params_init(config, HEAD_QA, &params));
    size_t end = 0;
    size_t total = 0;
    for (size_t i = 0; i < params.n_params; i++) {
        const struct param *param = &params.table[i];
        const bool fused = strstr(param->name, "k_lin") || strstr(param->name, "v_lin") ||
                           strstr(param->name, "self.key") || strstr(param->name, "self.value");
        if (fused) {
            assert_int_equal(param->offset, end);
        } else {
            assert_int_equal(param->offset % 16, 0);
            assert_in_range(param->offset, end, end + 15);
        }
        end = param->offset + param_size(param);
        total += param_size(param);
    }
    assert_int_equal(total, params.n_trainable);
    assert_int_equal(params.n_elements % 16, 0);
    assert_in_range(params.n_elements, end, end + 15);
    params_fini(&params);
}

static void test_pieces_are_aligned_and_fused_ones_adjacent(void **state)
{
    (void)state;
    for (size_t hidden = 2; hidden <= 64; hidden += 2) {
        for (int family = MODEL_DISTILBERT; family <= MODEL_BERT; family++) {
            const struct model_config config = make_config((enum model_family)family, hidden);
            expect_sound_layout(&config);
        }
    }
}

static void test_the_size_of_distilbert_is_the_published_one(void **state)
{
    (void)state;
    struct model_config config = make_config(MODEL_DISTILBERT, 768);
    config.vocab_size = 30522;
    config.n_layers = 6;
    config.intermediate = 3072;
    config.max_positions = 512;
    struct params params;
    EXPECT_OK(params_init(&config, HEAD_QA, &params));
    assert_int_equal(params.n_trainable, 66364418); /* DistilBertForQuestionAnswering */
    params_fini(&params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distilbert_names_and_offsets),
        cmocka_unit_test(test_bert_names_and_offsets),
        cmocka_unit_test(test_pieces_are_aligned_and_fused_ones_adjacent),
        cmocka_unit_test(test_the_size_of_distilbert_is_the_published_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
