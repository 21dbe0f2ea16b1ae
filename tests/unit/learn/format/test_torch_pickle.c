/* The pickle machine: what it reads, and that it refuses everything else. Pickles are written out
 * by hand. */
#include "support.h"

#include "base/core/memory.h"
#include "learn/format/torch_pickle.h"

/* Pieces of a pickle: a NUL inside a string literal counts, the one at its end does not. */
#define TEXT(s) s, sizeof(s) - 1

#define PROTO "\x80\x02"
#define REBUILD "ctorch._utils\n_rebuild_tensor_v2\n"
#define STORAGE(type)                                                                              \
    "(X\x07\0\0\0storagectorch\n" type "\nX\x01\0\0\0"                                             \
    "0X\x03\0\0\0cpu"
/* {"w": a 2x3 view of the storage "0" of six floats} */
#define ONE_TENSOR(n_elements, offset, size, stride)                                               \
    PROTO "}X\x01\0\0\0w" REBUILD "(" STORAGE("FloatStorage") n_elements                           \
        "tQ" offset size stride "\x89"                                                             \
        "ccollections\nOrderedDict\n)RtRs."

static yoke_status parse(const char *bytes, size_t n, struct pickled_tensors *tensors_out)
{
    unsigned char *exact = mem_calloc(n, 1); /* the sanitizer sees a read behind it */
    memcpy(exact, bytes, n);
    const yoke_status status = torch_pickle_read(exact, n, "m.bin", tensors_out);
    mem_free(exact);
    return status;
}

static void expect_refused(const char *bytes, size_t n, const char *part)
{
    struct pickled_tensors tensors = {0};
    EXPECT_FAIL(parse(bytes, n, &tensors), YOKE_ERR_FORMAT, part);
    assert_null(tensors.table);
}

static void test_a_dictionary_of_one_tensor(void **state)
{
    (void)state;
    struct pickled_tensors tensors;
    EXPECT_OK(
        parse(TEXT(ONE_TENSOR("K\x0a", "K\x01", "K\x02K\x03\x86", "K\x03K\x01\x86")), &tensors));
    assert_int_equal(tensors.n_tensors, 1);
    const struct pickled_tensor *tensor = &tensors.table[0];
    assert_string_equal(tensor->info.name, "w");
    assert_int_equal(tensor->info.dtype, TENSOR_F32);
    assert_int_equal(tensor->info.n_dims, 2);
    assert_int_equal(tensor->info.n_elements, 6);
    assert_int_equal(tensor->strides[0], 3);
    assert_int_equal(tensor->offset, 1);
    assert_int_equal(tensor->span, 6);
    assert_int_equal(tensor->storage_elements, 10);
    assert_string_equal(tensor->storage_key, "0");
    pickled_tensors_fini(&tensors);
}

static void test_memo_state_and_empty_values(void **state)
{
    (void)state;
    struct pickled_tensors tensors;
    /* OrderedDict() with items set through the memo, then a state with _metadata */
    static const char pickle[] =
        PROTO "ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\0\0\0wq\x02" REBUILD "(" STORAGE(
            "HalfStorage") "M\x00\x01tQJ\x02\0\0\0)(tN\x88NtRr\x03\0\0\0X\x01\0\0\0vj\x03\0\0\0u"
                           "}X\x09\0\0\0_metadata}sb.";
    EXPECT_OK(parse(pickle, sizeof pickle - 1, &tensors));
    assert_int_equal(tensors.n_tensors, 2);
    assert_string_equal(tensors.table[1].info.name, "v");
    assert_int_equal(tensors.table[0].info.n_dims, 0);
    assert_int_equal(tensors.table[0].info.n_elements, 1);
    assert_int_equal(tensors.table[0].offset, 2);
    assert_int_equal(tensors.table[0].info.dtype, TENSOR_F16);
    assert_int_equal(tensors.table[0].storage_elements, 256);
    pickled_tensors_fini(&tensors);
    EXPECT_OK(parse(TEXT(PROTO "}."), &tensors));
    assert_int_equal(tensors.n_tensors, 0);
    pickled_tensors_fini(&tensors);
}

static void test_names_outside_the_list_are_refused(void **state)
{
    (void)state;
    expect_refused(TEXT(PROTO "cposix\nsystem\nX\x02\0\0\0id\x85R."), "asks for posix.system");
    expect_refused(TEXT(PROTO "cos\nsystem\nX\x02\0\0\0id\x85R."), "asks for os.system");
    expect_refused(TEXT(PROTO "cbuiltins\neval\n."), "asks for builtins.eval");
    expect_refused(TEXT(PROTO "ctorch\nload\n."), "asks for torch.load");
    expect_refused(TEXT(PROTO "ccollections\nOrderedDict.__init__\n."), "asks for collections.Ord");
    expect_refused(TEXT(PROTO "ctorch._utils\n_rebuild_tensor_v\n."), "asks for torch._utils._reb");
    expect_refused(TEXT(PROTO "ctorch._utils"), "a name has no end");
}

static void test_opcodes_outside_the_list_are_refused(void **state)
{
    (void)state;
    static const char allowed[] = "\x80(N\x88\x89JKM\x8aX]})t\x85\x86\x87qrhjsubcQR.";
    for (int opcode = 0; opcode < 256; opcode++) {
        if (memchr(allowed, opcode, sizeof allowed - 1)) {
            continue;
        }
        const char pickle[] = {'\x80', 2, (char)opcode, '.'};
        char part[32];
        snprintf(part, sizeof part, "opcode 0x%02x", (unsigned)opcode);
        expect_refused(pickle, sizeof pickle, part);
    }
    expect_refused(TEXT("\x80\x04}."), "protocol 2 only");
}

static void test_views_beyond_their_storage_are_refused(void **state)
{
    (void)state;
    const char *beyond = "a tensor reaches beyond its storage";
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "K\x05", "K\x02K\x03\x86", "K\x03K\x01\x86")), beyond);
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "K\x00", "K\x02K\x03\x86", "K\x09K\x01\x86")), beyond);
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "K\x0a", "K\x01K\x01\x86", "K\x01K\x01\x86")), beyond);
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f",
                                   "K\x02K\x03\x86", "K\x03K\x01\x86")),
                   beyond);
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "K\x00", "K\x03K\x03\x86",
                                   "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\x01\x86")),
                   beyond);
    expect_refused(
        TEXT(ONE_TENSOR("K\x0a", "K\x00", "J\xff\xff\xff\xffK\x03\x86", "K\x03K\x01\x86")),
        "a dimension is negative");
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "K\x00", "K\x02K\x03\x86",
                                   "\x8a\x01\xff"
                                   "K\x01\x86")),
                   "a stride is negative");
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "\x8a\x01\x80", "K\x02K\x03\x86", "K\x03K\x01\x86")),
                   "the offset of a tensor is negative");
    expect_refused(TEXT(ONE_TENSOR("J\xff\xff\xff\xff", "K\x00", "K\x02\x85", "K\x01\x85")),
                   "the size of a storage is negative");
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "K\x00", "\x8a\x05\0\0\0\0\x01\x8a\x05\0\0\0\0\x01\x86",
                                   "K\x00K\x00\x86")),
                   "the shape of a tensor is too large");
    expect_refused(TEXT(ONE_TENSOR("K\x0a", "K\x00", "K\x02K\x03\x86", "K\x03\x85")),
                   "not a stride for each");
    expect_refused(
        TEXT(ONE_TENSOR("K\x0a", "K\x00", "(K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01t",
                        "(K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01t")),
        "too many dimensions");
    /* an expanded scalar (stride 0) is a legal view, however large it pretends to be */
    struct pickled_tensors tensors;
    EXPECT_OK(parse(TEXT(ONE_TENSOR("K\x01", "K\x00", "J\0\0\0\x40\x85", "K\x00\x85")), &tensors));
    assert_int_equal(tensors.table[0].span, 1);
    pickled_tensors_fini(&tensors);
}

static void test_broken_programs_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *part;
    } broken[] = {
        {TEXT(""), "cut off"},
        {TEXT(PROTO), "cut off"},
        {TEXT(PROTO "."), "empty stack"},
        {TEXT(PROTO "N."), "the outermost value is None, not a dictionary"},
        {TEXT(PROTO "X\xff\xff\xff\xff"
                    "abc."),
         "cut off"},
        {TEXT(PROTO "\x8a\x09"
                    "123456789."),
         "more than 64 bits"},
        {TEXT(PROTO "}j\xff\xff\xff\xff."), "never stored"},
        {TEXT(PROTO "}h\x00."), "never stored"},
        {TEXT(PROTO "}r\xff\xff\xff\xff."), "a memo number is larger"},
        {TEXT(PROTO "q\x00."), "an empty stack is stored"},
        {TEXT(PROTO "t."), "no mark"},
        {TEXT(PROTO "u."), "no mark"},
        {TEXT(PROTO "}(Nu."), "without a dictionary or without a value"},
        {TEXT(PROTO "(NNu."), "without a dictionary or without a value"},
        {TEXT(PROTO "N(NNu."), "what items are set in is None"},
        {TEXT(PROTO "N\x87."), "a tuple wants more values"},
        {TEXT(PROTO "NNs."), "empty stack"},
        {TEXT(PROTO "NNNs."), "what an item is set in is None"},
        {TEXT(PROTO "NNb."), "the state of an object is None"},
        {TEXT(PROTO "}b."), "a state is given to an empty stack"},
        {TEXT(PROTO "})R."), "what is called is a dictionary"},
        {TEXT(PROTO "ccollections\nOrderedDict\nN\x85R."), "made with arguments"},
        {TEXT(PROTO "ccollections\nOrderedDict\nNR."), "the arguments of a function is None"},
        {TEXT(PROTO REBUILD ")R."), "a tuple has too few items"},
        {TEXT(PROTO REBUILD "(NNNNtR."), "what a tensor is made of is None"},
        {TEXT(PROTO "ctorch._utils\n_rebuild_parameter\n(NNNtR."), "what a parameter is made of"},
        {TEXT(PROTO "NQ."), "a persistent id is None"},
        {TEXT(PROTO "(NNNNNtQ."), "not that of a storage"},
        {TEXT(PROTO "}X\x01\0\0\0wNs."), "an entry of the outermost dictionary is None"},
        {TEXT(PROTO "(X\x07\0\0\0storageNNNNtQ."), "the type of a storage is None"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        expect_refused(broken[i].bytes, broken[i].n, broken[i].part);
    }
    /* every cut of a good one */
    static const char good[] = ONE_TENSOR("K\x0a", "K\x01", "K\x02K\x03\x86", "K\x03K\x01\x86");
    for (size_t n = 0; n < sizeof good - 1; n++) {
        expect_refused(good, n, "m.bin: byte");
    }
}

static void test_one_string_cannot_name_millions_of_tensors(void **state)
{
    (void)state;
    enum { N = 100001 };
    struct str pickle = {0};
    static const char head[] = PROTO "}(X\x01\0\0\0wq\x00" REBUILD
                                     "(" STORAGE("FloatStorage") "K\x01tQK\x00)(tN\x88NtRq\x01";
    EXPECT_OK(str_append(&pickle, head, sizeof head - 1));
    for (int i = 1; i < N; i++) {
        EXPECT_OK(str_append(&pickle, "h\0h\x01", 4));
    }
    EXPECT_OK(str_append(&pickle, "u.", 2));
    expect_refused(pickle.text, pickle.len, "more than 100,000 entries");
    str_fini(&pickle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_dictionary_of_one_tensor),
        cmocka_unit_test(test_memo_state_and_empty_values),
        cmocka_unit_test(test_names_outside_the_list_are_refused),
        cmocka_unit_test(test_opcodes_outside_the_list_are_refused),
        cmocka_unit_test(test_views_beyond_their_storage_are_refused),
        cmocka_unit_test(test_broken_programs_are_refused),
        cmocka_unit_test(test_one_string_cannot_name_millions_of_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
