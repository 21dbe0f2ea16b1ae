/* Vocabulary files, good and bad, and the two lookups. */
#include "support.h"

#include "learn/text/vocab.h"

static yoke_status parse(struct vocab *vocab, const char *text)
{
    *vocab = (struct vocab){0};
    return vocab_parse(vocab, text, strlen(text), "v.txt");
}

static void check_id(const struct vocab *vocab, const char *token, uint32_t id)
{
    assert_int_equal(vocab_find(vocab, token, strlen(token)), id);
}

static void lines_are_ids(void **state)
{
    (void)state;
    const char *texts[] = {"a\n##b\nc", "a\r\n##b\r\nc\r\n",
                           ("\xef\xbb\xbf"
                            "a\n##b\nc\n\n\r\n\n"),
                           "a  \n##b\xe3\x80\x80\nc\t\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vocab vocab;
        EXPECT_OK(parse(&vocab, texts[i]));
        assert_int_equal(vocab.n_tokens, 3);
        check_id(&vocab, "a", 0);
        check_id(&vocab, "##b", 1);
        check_id(&vocab, "c", 2);
        check_id(&vocab, "b", VOCAB_NO_ID);
        check_id(&vocab, "", VOCAB_NO_ID);
        vocab_fini(&vocab);
    }
}

static void blank_lines_within_use_up_ids(void **state)
{
    (void)state;
    struct vocab vocab;
    EXPECT_OK(parse(&vocab, "a\n\n\nb\n"));
    check_id(&vocab, "b", 3);
    check_id(&vocab, "", 1);
    assert_null(vocab.tokens[2]);
    EXPECT_OK(vocab_build_trie(&vocab, "##"));
    assert_int_equal(vocab.node_ids[VOCAB_WORD_ROOT], VOCAB_NO_ID);
    vocab_fini(&vocab);
}

static void broken_files_name_their_line(void **state)
{
    (void)state;
    char huge[5000];
    memset(huge, 'x', sizeof huge);
    memcpy(huge, "a\nb\n", 4);
    huge[sizeof huge - 1] = '\0';
    const struct {
        const char *text, *part;
    } cases[] = {
        {"", "v.txt: line 1: the vocabulary is empty"},
        {"\n\n", "v.txt: line 1: the vocabulary is empty"},
        {"a\nb\na\n", "v.txt: line 3: token 'a' of id 2 has id 0 already"},
        {"a\n\xff\xfe\n", "v.txt: line 2: not UTF-8"},
        {"a\nb\nc\xc3\n", "v.txt: line 3: not UTF-8"},
        {huge, "v.txt: line 3: a token of 4995 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vocab vocab;
        EXPECT_FAIL(parse(&vocab, cases[i].text), YOKE_ERR_FORMAT, cases[i].part);
        vocab_fini(&vocab);
    }
    struct vocab vocab = {0};
    EXPECT_FAIL(vocab_parse(&vocab, "a\nb\0c\n", 6, "v.txt"), YOKE_ERR_FORMAT,
                "line 2: a NUL byte");
    vocab_fini(&vocab);
}

static void ids_are_taken_once(void **state)
{
    (void)state;
    struct vocab vocab = {0};
    EXPECT_OK(vocab_add(&vocab, "a", 1, 5));
    EXPECT_FAIL(vocab_add(&vocab, "b", 1, 5), YOKE_ERR_FORMAT, "belongs to 'a'");
    EXPECT_FAIL(vocab_add(&vocab, "a", 1, 6), YOKE_ERR_FORMAT, "has id 5 already");
    EXPECT_FAIL(vocab_add(&vocab, "c", 1, VOCAB_MAX_TOKENS), YOKE_ERR_FORMAT, "must be below");
    assert_int_equal(vocab.n_tokens, 6);
    vocab_fini(&vocab);
}

/* Many tokens, so that both tables grow, found again one by one and along the trie. */
static void everything_added_is_found(void **state)
{
    (void)state;
    struct vocab vocab = {0};
    char token[16];
    enum { N = 20000 };
    for (uint32_t id = 0; id < N; id++) {
        const int n = snprintf(token, sizeof token, "%s%u", id % 3 ? "" : "##", id * 7919);
        EXPECT_OK(vocab_add(&vocab, token, (size_t)n, id));
    }
    EXPECT_OK(vocab_build_trie(&vocab, "##"));
    for (uint32_t id = 0; id < N; id++) {
        const int n = snprintf(token, sizeof token, "%s%u", id % 3 ? "" : "##", id * 7919);
        assert_int_equal(vocab_find(&vocab, token, (size_t)n), id);
        uint32_t node = id % 3 ? VOCAB_WORD_ROOT : VOCAB_PIECE_ROOT;
        for (const char *c = id % 3 ? token : token + 2; *c; c++) {
            node = vocab_step(&vocab, node, (unsigned char)*c);
            assert_int_not_equal(node, VOCAB_NO_ID);
        }
        assert_int_equal(vocab.node_ids[node], id);
        assert_int_equal(vocab_step(&vocab, node, 'x'), VOCAB_NO_ID);
    }
    vocab_fini(&vocab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_ids),
        cmocka_unit_test(blank_lines_within_use_up_ids),
        cmocka_unit_test(broken_files_name_their_line),
        cmocka_unit_test(ids_are_taken_once),
        cmocka_unit_test(everything_added_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
