/* What is written reads back; every lie of a header ends in one line that names the tensor. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/format/safetensors.h"

/* A file in memory: the length of the header (or `length` when it is not SIZE_MAX), the header,
 * n_data bytes. */
struct bytes {
    unsigned char *data;
    size_t n;
};

static struct bytes make(const char *header, size_t length, size_t n_data)
{
    const size_t n_header = strlen(header);
    struct bytes bytes = {.n = 8 + n_header + n_data};
    EXPECT_OK(MEM_NEW(bytes.data, bytes.n));
    length = length == SIZE_MAX ? n_header : length;
    for (int i = 0; i < 8; i++) {
        bytes.data[i] = (unsigned char)(length >> (8 * i));
    }
    memcpy(bytes.data + 8, header, n_header);
    return bytes;
}

static void expect_refused(const char *header, size_t n_data, yoke_status status, const char *part)
{
    const struct bytes bytes = make(header, SIZE_MAX, n_data);
    struct safetensors *file = NULL;
    EXPECT_FAIL(safetensors_open_memory(bytes.data, bytes.n, "m.safetensors", &file), status, part);
    assert_null(file);
    mem_free(bytes.data);
}

static void test_headers_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t n_data;
        const char *part;
    } lies[] = {
        {"", 0, "the header of m.safetensors is not JSON"},
        {"[]", 0, "no JSON object"},
        {"{\"a\":1}", 0, "tensor a has no dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "tensor a: data_offsets must be"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":3,\"data_offsets\":[0,4]}}", 4,
         "shape must be a list"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
         "a list of at most 8"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "dimension 0"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4, "dimension 0"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}", 4,
         "data_offsets must"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4,
         "data_offsets must"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,8]}}", 8,
         "data_offsets must"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4,
         "ends at byte 8 but the data has 4"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8,
         "takes 8 bytes but its shape and dtype need 4"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
         "the shape is too large"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807],\"data_offsets\":[0,4]}}", 4,
         "the shape is too large"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]}}", 4,
         "dimension 0"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         8, "tensor b begins at byte 4 where 8 was due"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}",
         12, "tensor b begins at byte 8 where 4 was due"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8,
         "the tensors take 4 bytes but the data has 8"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         8, "tensor a begins at byte 4 where 0 was due"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        expect_refused(lies[i].header, lies[i].n_data, YOKE_ERR_FORMAT, lies[i].part);
    }
    expect_refused("{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
                   YOKE_ERR_UNSUPPORTED, "tensor a: dtype F8_E4M3 is not supported");
}

static void test_a_length_that_lies_is_refused(void **state)
{
    (void)state;
    static const size_t lengths[] = {3, 1000, 100000001, INT64_MAX, SIZE_MAX - 1};
    struct safetensors *file = NULL;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const struct bytes bytes = make("{}", lengths[i], 0);
        EXPECT_FAIL(safetensors_open_memory(bytes.data, bytes.n, "m.safetensors", &file),
                    YOKE_ERR_FORMAT, "m.safetensors is no safetensors file, or is cut off");
        mem_free(bytes.data);
    }
    EXPECT_FAIL(safetensors_open_memory("{}", 2, "m.safetensors", &file), YOKE_ERR_FORMAT,
                "cut off");
    EXPECT_FAIL(safetensors_open("/nowhere/m.safetensors", &file), YOKE_ERR_NOT_FOUND, "/nowhere");
    assert_null(file);
}

static void test_no_cut_of_a_good_file_is_read(void **state)
{
    (void)state;
    struct file_map map;
    EXPECT_OK(file_map_open(YOKE_TEST_DATA "/golden/checkpoint/bert/model.safetensors", &map));
    struct safetensors *file = NULL;
    for (size_t n = 0; n < map.size_bytes; n += 37) {
        unsigned char *cut =
            mem_calloc(n, 1); /* exact, so that the sanitizer sees a read behind it */
        memcpy(cut, map.data, n);
        EXPECT_FAIL(safetensors_open_memory(cut, n, "cut", &file), YOKE_ERR_FORMAT, "cut");
        mem_free(cut);
    }
    file_map_close(&map);
}

static void test_what_is_written_reads_back(void **state)
{
    (void)state;
    char folder[64];
    test_folder_make(folder);
    char *path = str_path(folder, "a.safetensors");
    static const float matrix[6] = {1, 2, 3, 4, 5, -6.5f};
    static const int64_t offsets[3] = {0, 7, 1ll << 40};
    static const unsigned char flags[3] = {1, 0, 1};
    const struct safetensors_item items[] = {
        {safetensors_info("offsets", TENSOR_I64, 3, 0), offsets},
        {safetensors_info("w\"\xc3\xa9", TENSOR_F32, 2, 3), matrix},
        {safetensors_info("empty", TENSOR_F32, 0, 0), matrix},
        {safetensors_info("flags", TENSOR_BOOL, 3, 0), flags},
    };
    EXPECT_OK(safetensors_write(path, items, 4));
    struct file_map map;
    static const char metadata[] = "{\"__metadata__\":{\"format\":\"pt\"},";
    EXPECT_OK(file_map_open(path, &map));
    assert_memory_equal(map.data + 8, metadata, sizeof metadata - 1);
    file_map_close(&map);

    struct safetensors *file;
    EXPECT_OK(safetensors_open(path, &file));
    assert_int_equal(safetensors_count(file), 4);
    assert_true(safetensors_find(file, "none") == SIZE_MAX);
    const size_t w = safetensors_find(file, "w\"\xc3\xa9");
    const struct tensor_info *info = safetensors_get(file, w);
    assert_int_equal(info->dtype, TENSOR_F32);
    assert_int_equal(info->n_dims, 2);
    assert_int_equal(info->shape[0], 2);
    assert_int_equal(info->shape[1], 3);
    assert_memory_equal(safetensors_data(file, w), matrix, sizeof matrix);
    assert_memory_equal(safetensors_data(file, safetensors_find(file, "offsets")), offsets,
                        sizeof offsets);
    assert_int_equal(safetensors_get(file, safetensors_find(file, "empty"))->n_elements, 0);
    assert_int_equal((uintptr_t)safetensors_data(file, safetensors_find(file, "offsets")) % 8, 0);
    safetensors_close(file);
    safetensors_close(NULL);
    mem_free(path);
    test_folder_remove(folder);
}

static void expect_converted(enum tensor_dtype dtype, const void *from, size_t n,
                             const float *wanted)
{
    unsigned char bytes[65];
    float to[8];
    const size_t n_bytes = n * tensor_dtype_bytes(dtype);
    memcpy(bytes + 1, from, n_bytes); /* odd address */
    tensor_convert(dtype, bytes + 1, n, to);
    assert_memory_equal(to, wanted, n * sizeof *wanted);
}

static void test_types_convert(void **state)
{
    (void)state;
    expect_converted(TENSOR_F64, (const double[]){0.1, -2.0}, 2, (const float[]){0.1f, -2.0f});
    expect_converted(TENSOR_F32, (const float[]){0.1f}, 1, (const float[]){0.1f});
    /* 1, -2, the largest, the smallest normal, the smallest subnormal, -0, infinity */
    expect_converted(
        TENSOR_F16, (const uint16_t[]){0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x8000, 0x7c00}, 7,
        (const float[]){1.0f, -2.0f, 65504.0f, 0x1p-14f, 0x1p-24f, -0.0f, 1.0f / 0.0f});
    expect_converted(TENSOR_BF16, (const uint16_t[]){0x3f80, 0xc0a0}, 2,
                     (const float[]){1.0f, -5.0f});
    expect_converted(TENSOR_I64, (const int64_t[]){-3, 1ll << 40}, 2,
                     (const float[]){-3.0f, 0x1p40f});
    expect_converted(TENSOR_I32, (const int32_t[]){-3}, 1, (const float[]){-3.0f});
    expect_converted(TENSOR_I16, (const int16_t[]){-3}, 1, (const float[]){-3.0f});
    expect_converted(TENSOR_I8, (const int8_t[]){-3}, 1, (const float[]){-3.0f});
    expect_converted(TENSOR_U8, (const uint8_t[]){253}, 1, (const float[]){253.0f});
    expect_converted(TENSOR_BOOL, (const uint8_t[]){0, 1}, 2, (const float[]){0.0f, 1.0f});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_that_lie_are_refused),
        cmocka_unit_test(test_a_length_that_lies_is_refused),
        cmocka_unit_test(test_no_cut_of_a_good_file_is_read),
        cmocka_unit_test(test_what_is_written_reads_back),
        cmocka_unit_test(test_types_convert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
