/* Whose files are whose. */
#include "support.h"

#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/train/output_folder.h"

static void make_folder(const char *folder, const char *name, const char *file)
{
    char *path = str_path(folder, name);
    EXPECT_OK(file_make_directories(path));
    if (file) {
        char *inner = str_path(path, file);
        EXPECT_OK(file_write_all(inner, "{}", 2));
        mem_free(inner);
    }
    mem_free(path);
}

static void make_checkpoint(const char *folder, const char *name)
{
    make_folder(folder, name, "trainer_state.json");
}

static void expect_there(const char *folder, const char *name, bool there)
{
    char *path = str_path(folder, name);
    if (file_exists(path) != there) {
        fail_msg("%s is%s there", name, there ? " not" : "");
    }
    mem_free(path);
}

static void expect_last(const char *folder, int64_t wanted)
{
    int64_t number;
    EXPECT_OK(output_folder_last_checkpoint(folder, &number));
    assert_int_equal(number, wanted);
}

static void the_last_checkpoint_is_the_highest_number(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    expect_last("/nonexistent/folder", -1);
    expect_last(folder, -1);
    make_checkpoint(folder, "checkpoint-9");
    make_checkpoint(folder, "checkpoint-10"); /* a sort of names would take 9 */
    make_folder(folder, "checkpoint-11", NULL);
    make_checkpoint(folder, "checkpoint-12.yoke-tmp");
    make_checkpoint(folder, "checkpoint-x");
    make_checkpoint(folder, "checkpoint-+14");
    make_checkpoint(folder, "checkpoint-013"); /* checkpoint-13 would be another folder */
    make_checkpoint(folder, "my-checkpoint-99");
    expect_last(folder, 10);
    test_folder_remove(folder);
}

static void somebodys_files_are_safe(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    int64_t resume;
    EXPECT_OK(output_folder_prepare(folder, true, false, &resume));
    assert_int_equal(resume, -1);
    char *path = str_path(folder, "thesis.tex");
    EXPECT_OK(file_write_all(path, "x", 1));
    EXPECT_FAIL(output_folder_prepare(folder, true, false, &resume), YOKE_ERR_EXISTS,
                "--overwrite_output_dir");
    EXPECT_OK(output_folder_prepare(folder, false, false, &resume)); /* evaluation adds files */
    EXPECT_OK(output_folder_prepare(folder, true, true, &resume));
    assert_int_equal(resume, -1);
    expect_there(folder, "thesis.tex", true);
    make_checkpoint(folder, "checkpoint-4");
    EXPECT_OK(output_folder_prepare(folder, true, false, &resume));
    assert_int_equal(resume, 4);
    EXPECT_OK(output_folder_prepare(folder, true, true, &resume));
    assert_int_equal(resume, -1);
    EXPECT_FAIL(output_folder_prepare(path, true, false, &resume), YOKE_ERR_EXISTS, "is a file");
    mem_free(path);
    test_folder_remove(folder);
}

static void what_a_killed_run_left_is_cleared(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    int64_t resume;
    char *file = str_path(folder, "config.json");
    char *path = file_temporary_path(file);
    EXPECT_OK(file_write_all(path, "x", 1));
    make_folder(folder, "checkpoint-2.yoke-tmp-4194305", "vocab.txt"); /* above every pid */
    make_folder(folder, "checkpoint-2.yoke-tmp-1", NULL);
    EXPECT_FAIL(output_folder_prepare(folder, true, false, &resume), YOKE_ERR_EXISTS, folder);
    assert_true(file_exists(path));
    EXPECT_OK(output_folder_prepare(folder, true, true, &resume));
    assert_false(file_exists(path));
    expect_there(folder, "checkpoint-2.yoke-tmp-4194305", false);
    expect_there(folder, "checkpoint-2.yoke-tmp-1", true);
    mem_free(path);
    mem_free(file);
    test_folder_remove(folder);
}

static void rotation_keeps_the_newest_and_what_is_not_ours(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    make_checkpoint(folder, "checkpoint-8");
    make_checkpoint(folder, "checkpoint-9");
    make_checkpoint(folder, "checkpoint-10");
    make_folder(folder, "checkpoint-5", "notes.txt");
    EXPECT_OK(output_folder_rotate(folder, 10, 2));
    expect_there(folder, "checkpoint-5", true);
    expect_there(folder, "checkpoint-8", false);
    expect_there(folder, "checkpoint-9", true);
    expect_there(folder, "checkpoint-10", true);
    /* A checkpoint of a longer run before is older than the one just written. */
    make_checkpoint(folder, "checkpoint-500");
    EXPECT_OK(output_folder_rotate(folder, 10, 2));
    expect_there(folder, "checkpoint-500", false);
    expect_there(folder, "checkpoint-9", true);
    EXPECT_OK(output_folder_rotate(folder, 10, 1));
    expect_there(folder, "checkpoint-9", false);
    expect_there(folder, "checkpoint-10", true);
    expect_there(folder, "checkpoint-5", true);
    test_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_checkpoint_is_the_highest_number),
        cmocka_unit_test(somebodys_files_are_safe),
        cmocka_unit_test(what_a_killed_run_left_is_cleared),
        cmocka_unit_test(rotation_keeps_the_newest_and_what_is_not_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
