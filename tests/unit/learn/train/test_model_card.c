/* The card's front matter, and other people's README. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/train/model_card.h"

static const struct train_options options = {.per_device_train_batch_size = 4,
                                             .per_device_eval_batch_size = 8,
                                             .gradient_accumulation_steps = 2,
                                             .learning_rate = 5e-5,
                                             .num_train_epochs = 3.0,
                                             .seed = 42};

static struct model_card make_card(const json_t *results)
{
    return (struct model_card){.base_model = "a \"b\": c",
                               .task = "question-answering",
                               .n_ranks = 2,
                               .options = &options,
                               .results = results};
}

static void the_front_matter_is_yaml(void **state)
{
    (void)state;
    json_t *results = json_object();
    json_object_set_new(results, "eval_f1", json_real(88.5));
    const struct model_card card = make_card(results);
    struct str text = {0};
    EXPECT_OK(model_card_format(&card, "out", &text));
    const char *head =
        "---\nlibrary_name: transformers\nbase_model: \"a \\\"b\\\": c\"\n"
        "pipeline_tag: question-answering\ntags:\n- generated_from_trainer\nmodel-index:\n"
        "- name: \"out\"\n  results: []\n---\n\n# out\n";
    assert_memory_equal(str_text(&text), head, strlen(head));
    assert_non_null(strstr(str_text(&text), "- learning_rate: 5e-05\n"));
    assert_non_null(strstr(str_text(&text), "- total_train_batch_size: 16\n"));
    assert_non_null(strstr(str_text(&text), "- eval_f1: 88.5\n"));
    str_fini(&text);
    json_decref(results);
}

static void somebodys_readme_stays(void **state)
{
    (void)state;
    char folder[64], path[128];
    json_t *results = json_object();
    const struct model_card card = make_card(results);
    struct file_map map;
    test_folder_make(folder);
    snprintf(path, sizeof path, "%s/README.md", folder);
    EXPECT_OK(file_write_all(path, "my notes", 8));
    EXPECT_OK(model_card_write(&card, folder));
    EXPECT_OK(file_map_open(path, &map));
    assert_int_equal(map.size_bytes, 8);
    file_map_close(&map);
    EXPECT_OK(file_write_all(path, "tags:\n- generated_from_trainer\n", 31));
    EXPECT_OK(model_card_write(&card, folder));
    EXPECT_OK(file_map_open(path, &map));
    assert_true(map.size_bytes > 100);
    file_map_close(&map);
    json_decref(results);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_front_matter_is_yaml),
        cmocka_unit_test(somebodys_readme_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
