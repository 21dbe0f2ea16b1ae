/* Archives of torch.save: hostile ones are refused whole, and no cut or flipped byte is read as if
 * it were good. What good ones hold is test_params_load's. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/format/torch_zip.h"

#define GOLDEN YOKE_TEST_DATA "/golden/checkpoint/"
#define HOSTILE GOLDEN "hostile/"

static void test_hostile_archives_are_refused(void **state)
{
    (void)state;
    struct torch_zip *file = NULL;
    EXPECT_FAIL(torch_zip_open(HOSTILE "system.bin", &file), YOKE_ERR_FORMAT,
                "asks for posix.system, which a file of weights does not need");
    EXPECT_FAIL(torch_zip_open(HOSTILE "missing_storage.bin", &file), YOKE_ERR_FORMAT,
                "tensor weight lies in member data/0, which is missing");
    EXPECT_FAIL(torch_zip_open(HOSTILE "short_storage.bin", &file), YOKE_ERR_FORMAT,
                "tensor weight: its storage has 8 bytes, not 3 elements of F32");
    EXPECT_FAIL(torch_zip_open(HOSTILE "no_pickle.bin", &file), YOKE_ERR_FORMAT, "no data.pkl");
    EXPECT_FAIL(torch_zip_open(HOSTILE "big_endian.bin", &file), YOKE_ERR_UNSUPPORTED,
                "little-endian");
    EXPECT_FAIL(torch_zip_open(HOSTILE "legacy.bin", &file), YOKE_ERR_UNSUPPORTED,
                "written by torch before 1.6");
    EXPECT_FAIL(torch_zip_open(GOLDEN "bert/config.json", &file), YOKE_ERR_FORMAT,
                "is no zip archive");
    EXPECT_FAIL(torch_zip_open("/nowhere/m.bin", &file), YOKE_ERR_NOT_FOUND, "/nowhere/m.bin");
    assert_null(file);
    torch_zip_close(NULL);
}

/* Opens bytes and copies all that can be copied; true when everything could. */
static bool read_all(const unsigned char *bytes, size_t n)
{
    struct torch_zip *file;
    if (torch_zip_open_memory(bytes, n, "m.bin", &file) < 0) {
        assert_int_not_equal(yoke_last_error()[0], '\0');
        return false;
    }
    bool whole = true;
    for (size_t i = 0; i < torch_zip_count(file); i++) {
        const size_t n_elements = torch_zip_get(file, i)->n_elements;
        float *values = n_elements < 100000 ? mem_calloc(n_elements, sizeof *values) : NULL;
        whole = values && torch_zip_copy(file, i, values) >= 0 && whole;
        mem_free(values);
    }
    torch_zip_close(file);
    return whole;
}

static unsigned char *copy_of(const struct file_map *map, size_t n)
{
    unsigned char *copy = mem_calloc(n, 1);
    memcpy(copy, map->data, n);
    return copy;
}

static void test_no_cut_of_a_good_archive_is_read(void **state)
{
    (void)state;
    struct file_map map;
    EXPECT_OK(file_map_open(GOLDEN "distilbert-bin/pytorch_model.bin", &map));
    for (size_t n = 0; n < map.size_bytes; n += 97) {
        unsigned char *cut = copy_of(&map, n);
        assert_false(read_all(cut, n));
        mem_free(cut);
    }
    unsigned char *whole = copy_of(&map, map.size_bytes);
    assert_true(read_all(whole, map.size_bytes));
    mem_free(whole);
    file_map_close(&map);
}

/* A changed byte may lie where no meaning is, but never leads outside the file (the sanitizer
 * watches). */
static void test_changed_bytes_do_no_harm(void **state)
{
    (void)state;
    static const char *const paths[] = {GOLDEN "distilbert-views/pytorch_model.bin",
                                        GOLDEN "distilbert-deflated/pytorch_model.bin"};
    for (int i = 0; i < 2; i++) {
        struct file_map map;
        EXPECT_OK(file_map_open(paths[i], &map));
        unsigned char *changed = copy_of(&map, map.size_bytes);
        for (size_t at = 0; at < map.size_bytes; at += 53) {
            changed[at] ^= 0xff;
            (void)read_all(changed, map.size_bytes);
            changed[at] ^= 0xff;
        }
        mem_free(changed);
        file_map_close(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_archives_are_refused),
        cmocka_unit_test(test_no_cut_of_a_good_archive_is_read),
        cmocka_unit_test(test_changed_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
