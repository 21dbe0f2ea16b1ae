/* Which file of a folder counts, what an index may say, pointer files. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/format/safetensors.h"
#include "learn/format/tensor_source.h"

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    test_folder_make(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

static void write_text(const char *name, const char *text)
{
    char *path = str_path(folder, name);
    EXPECT_OK(file_write_all(path, text, strlen(text)));
    mem_free(path);
}

/* A file with one tensor [2] of the values `value` and 0. */
static void write_tensor(const char *name, const char *tensor, float value)
{
    const float values[2] = {value, 0.0f};
    const struct safetensors_item item = {safetensors_info(tensor, TENSOR_F32, 2, 0), values};
    char *path = str_path(folder, name);
    EXPECT_OK(safetensors_write(path, &item, 1));
    mem_free(path);
}

static void expect_refused(yoke_status status, const char *part)
{
    struct tensor_source *source = NULL;
    EXPECT_FAIL(tensor_source_open(folder, &source), status, part);
    assert_null(source);
}

static void test_an_empty_folder_has_no_weights(void **state)
{
    (void)state;
    expect_refused(YOKE_ERR_NOT_FOUND, "has no weights: neither model.safetensors nor "
                                       "pytorch_model.bin");
    tensor_source_close(NULL);
}

static void test_a_whole_file_comes_before_an_index(void **state)
{
    (void)state;
    write_tensor("model.safetensors", "whole", 3.0f);
    write_text("model.safetensors.index.json", "not read");
    write_text("pytorch_model.bin", "not read");
    struct tensor_source *source;
    EXPECT_OK(tensor_source_open(folder, &source));
    assert_int_equal(tensor_source_count(source), 1);
    assert_int_equal(tensor_source_find(source, "whole"), 0);
    assert_true(tensor_source_find(source, "other") == SIZE_MAX);
    assert_non_null(strstr(tensor_source_path(source, 0), "/model.safetensors"));
    float values[2];
    EXPECT_OK(tensor_source_copy(source, 0, values));
    assert_true(values[0] == 3.0f && values[1] == 0.0f);
    tensor_source_close(source);
}

static void test_an_index_names_files(void **state)
{
    (void)state;
    write_tensor("one.safetensors", "b", 1.0f);
    write_tensor("two.safetensors", "a", 2.0f);
    write_text("model.safetensors.index.json",
               "{\"weight_map\": {\"b\": \"one.safetensors\", \"a\": \"two.safetensors\"}}");
    struct tensor_source *source;
    EXPECT_OK(tensor_source_open(folder, &source));
    assert_int_equal(tensor_source_count(source), 2);
    float values[2];
    EXPECT_OK(tensor_source_copy(source, tensor_source_find(source, "a"), values));
    assert_true(values[0] == 2.0f);
    assert_string_equal(tensor_source_get(source, 0)->name, "a");
    assert_string_equal(tensor_source_get(source, 1)->name, "b");
    tensor_source_close(source);
}

static void test_an_index_that_lies_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *index;
        yoke_status status;
        const char *part;
    } lies[] = {
        {"{}", YOKE_ERR_FORMAT, "has no \"weight_map\""},
        {"[", YOKE_ERR_FORMAT, "is not JSON: line 1"},
        {"{\"weight_map\": {\"a\": \"../x.safetensors\"}}", YOKE_ERR_FORMAT, "of the same folder"},
        {"{\"weight_map\": {\"a\": \"/etc/passwd\"}}", YOKE_ERR_FORMAT, "of the same folder"},
        {"{\"weight_map\": {\"a\": \"..\"}}", YOKE_ERR_FORMAT, "of the same folder"},
        {"{\"weight_map\": {\"a\": 3}}", YOKE_ERR_FORMAT, "of the same folder"},
        {"{\"weight_map\": {\"a\": \"none.safetensors\"}}", YOKE_ERR_NOT_FOUND,
         "index.json: cannot"},
        {"{\"weight_map\": {\"c\": \"one.safetensors\"}}", YOKE_ERR_FORMAT,
         "tensor c is not in one.safetensors"},
        {"{\"weight_map\": {\"a\": \"one.safetensors\", \"b\": \"one.safetensors\","
         " \"c\": \"two.safetensors\"}}",
         YOKE_ERR_FORMAT, "tensor a stands in"},
    };
    write_tensor("one.safetensors", "a", 1.0f);
    write_tensor("two.safetensors", "a", 2.0f);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        write_text("model.safetensors.index.json", lies[i].index);
        expect_refused(lies[i].status, lies[i].part);
    }
}

static void test_a_pointer_file_is_named_as_such(void **state)
{
    (void)state;
    write_text("model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
    expect_refused(YOKE_ERR_FORMAT, "model.safetensors is a Git LFS pointer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_an_empty_folder_has_no_weights, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_whole_file_comes_before_an_index, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_index_names_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_index_that_lies_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_pointer_file_is_named_as_such, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
