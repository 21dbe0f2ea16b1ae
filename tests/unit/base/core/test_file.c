/* Files appear whole or not at all. */
#include "support.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/core/str.h"

static void maps_say_what_is_wrong(void **state)
{
    (void)state;
    struct file_map map;
    EXPECT_FAIL(file_map_open("/no/such/file", &map), YOKE_ERR_NOT_FOUND, "/no/such/file");
    EXPECT_FAIL(file_map_open("/tmp", &map), YOKE_ERR_IO, "not a regular file");
    char folder[64];
    char *pipe = str_path(test_folder_make(folder), "pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    EXPECT_FAIL(file_map_open(pipe, &map), YOKE_ERR_IO, "not a regular file");
    mem_free(pipe);
    test_folder_remove(folder);
}

static void written_files_read_back(void **state)
{
    (void)state;
    char folder[64];
    char *path = str_path(test_folder_make(folder), "file");
    EXPECT_OK(file_write_all(path, "", 0));
    struct file_map map;
    EXPECT_OK(file_map_open(path, &map));
    assert_int_equal(map.size_bytes, 0);
    file_map_close(&map);
    const size_t n = (3u << 20) + 17; /* more than the writer's buffer */
    unsigned char *data = mem_calloc(n, 1);
    for (size_t i = 0; i < n; i++) {
        data[i] = (unsigned char)(i * 7);
    }
    struct file_writer writer;
    EXPECT_OK(file_writer_open(&writer, path));
    for (size_t i = 0; i < n; i += 100003) {
        EXPECT_OK(file_writer_write(&writer, data + i, n - i < 100003 ? n - i : 100003));
    }
    EXPECT_OK(file_writer_commit(&writer));
    EXPECT_OK(file_map_open(path, &map));
    assert_int_equal(map.size_bytes, n);
    assert_memory_equal(map.data, data, n);
    file_map_close(&map);
    mem_free(data);
    mem_free(path);
    test_folder_remove(folder);
}

static yoke_status count_entry(const char *name, void *context)
{
    (void)name;
    ++*(int *)context;
    return YOKE_OK;
}

static void an_aborted_write_leaves_the_old_file(void **state)
{
    (void)state;
    char folder[64];
    char *path = str_path(test_folder_make(folder), "file");
    EXPECT_OK(file_write_all(path, "old", 3));
    struct file_writer writer;
    EXPECT_OK(file_writer_open(&writer, path));
    EXPECT_OK(file_writer_write(&writer, "new", 3));
    file_writer_abort(&writer);
    file_writer_abort(&writer); /* twice is harmless */
    struct file_map map;
    EXPECT_OK(file_map_open(path, &map));
    assert_memory_equal(map.data, "old", 3);
    file_map_close(&map);
    int n = 0;
    EXPECT_OK(file_list(folder, count_entry, &n));
    assert_int_equal(n, 1);
    mem_free(path);
    test_folder_remove(folder);
}

static void a_full_disk_is_one_line(void **state)
{
    (void)state;
    struct file_writer writer;
    /* /dev/full accepts the open and refuses every write: the writer's temporary cannot live there,
     * so the descriptor is exchanged. */
    char folder[64];
    char *path = str_path(test_folder_make(folder), "file");
    EXPECT_OK(file_write_all(path, "old", 3));
    EXPECT_OK(file_writer_open(&writer, path));
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_true(dup2(fileno(full), writer.fd) >= 0);
    fclose(full);
    EXPECT_OK(file_writer_write(&writer, "new", 3));
    EXPECT_FAIL(file_writer_commit(&writer), YOKE_ERR_IO, "No space left on device");
    struct file_map map;
    EXPECT_OK(file_map_open(path, &map));
    assert_memory_equal(map.data, "old", 3);
    file_map_close(&map);
    mem_free(path);
    test_folder_remove(folder);
}

static void folders_are_made_and_removed(void **state)
{
    (void)state;
    char folder[64];
    char *deep = str_path(test_folder_make(folder), "a/b//c");
    EXPECT_OK(file_make_directories(deep));
    EXPECT_OK(file_make_directories(deep));
    assert_true(file_is_directory(deep));
    char *file = str_path(deep, "f");
    EXPECT_OK(file_write_all(file, "x", 1));
    char *below = str_path(file, "d");
    EXPECT_FAIL(file_make_directories(below), YOKE_ERR_IO, "cannot make the folder");
    char *link = str_path(folder, "link");
    assert_int_equal(symlink(deep, link), 0);
    EXPECT_OK(file_remove_tree(link)); /* the link, not what it points to */
    assert_false(file_exists(link));
    assert_true(file_exists(file));
    char *inner = str_path(folder, "a");
    char *elsewhere = str_path(folder, "elsewhere");
    EXPECT_OK(file_make_directories(elsewhere));
    char *inner_link = str_path(deep, "link");
    assert_int_equal(symlink(elsewhere, inner_link), 0);
    EXPECT_OK(file_remove_tree(inner));
    assert_false(file_exists(inner));
    assert_true(file_exists(elsewhere));
    test_folder_remove(folder);
    assert_false(file_exists(folder));
    EXPECT_OK(file_remove_tree(folder));
    mem_free(deep);
    mem_free(file);
    mem_free(below);
    mem_free(link);
    mem_free(inner);
    mem_free(elsewhere);
    mem_free(inner_link);
}

static void leftovers_are_those_of_processes_that_are_gone(void **state)
{
    (void)state;
    char name[64];
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    snprintf(name, sizeof name, "a.yoke-tmp-%ld", (long)child);
    assert_false(file_is_leftover(name)); /* not reaped: its number is taken */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(file_is_leftover(name));
    char *own = file_temporary_path("checkpoint-3");
    assert_true(file_is_leftover(own));
    assert_false(file_is_leftover("a.yoke-tmp-"));
    assert_false(file_is_leftover("a.yoke-tmp-0"));
    assert_false(file_is_leftover("a.yoke-tmp--1"));
    snprintf(name, sizeof name, "a.yoke-tmp-%ld.bak", (long)child);
    assert_false(file_is_leftover(name));
    snprintf(name, sizeof name, "a.yoke-tmp-%ld", (long)getppid());
    assert_false(file_is_leftover(name));
    mem_free(own);
}

static void discarded_folders_are_gone_as_a_whole(void **state)
{
    (void)state;
    char folder[64];
    char *path = str_path(test_folder_make(folder), "sub");
    char *file = str_path(path, "f");
    EXPECT_OK(file_make_directories(path));
    EXPECT_OK(file_write_all(file, "x", 1));
    EXPECT_OK(file_discard(path));
    assert_int_equal(rmdir(folder), 0); /* nothing is left in it */
    EXPECT_FAIL(file_discard(path), YOKE_ERR_IO, "No such file");
    mem_free(path);
    mem_free(file);
}

static void a_folder_that_cannot_be_written_is_told(void **state)
{
    (void)state;
    EXPECT_FAIL(file_make_directories("/proc/self/new"), YOKE_ERR_IO, "/proc/self/new: ");
    EXPECT_FAIL(file_make_directories("/proc/sys"), YOKE_ERR_IO, "cannot write into");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_say_what_is_wrong),
        cmocka_unit_test(written_files_read_back),
        cmocka_unit_test(an_aborted_write_leaves_the_old_file),
        cmocka_unit_test(a_full_disk_is_one_line),
        cmocka_unit_test(folders_are_made_and_removed),
        cmocka_unit_test(leftovers_are_those_of_processes_that_are_gone),
        cmocka_unit_test(discarded_folders_are_gone_as_a_whole),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
