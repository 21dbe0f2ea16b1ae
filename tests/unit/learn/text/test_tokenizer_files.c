/* Which file of a folder counts for what, and what each broken one says. */
#include "support.h"

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/text/tokenizer.h"

#define VOCAB "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nabc\nAbc\n##d\ne\n\xc3\xa9\n"

/* A tokenizer.json of a few tokens; the normaliser's options and the rest of the model are
 * arguments. */
#define JSON(normalizer, model, rest)                                                              \
    "{\"normalizer\": {\"type\": \"BertNormalizer\"" normalizer "},"                               \
    "\"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"},"                                         \
    "\"model\": {\"type\": \"WordPiece\"" model ", \"vocab\": {\"[PAD]\": 0, \"[UNK]\": 1, "       \
    "\"[CLS]\": 2, \"[SEP]\": 3, \"abc\": 4, \"Abc\": 5, \"@d\": 6, \"##d\": 7}}" rest "}"
#define CASED                                                                                      \
    ", \"clean_text\": true, \"lowercase\": false, \"strip_accents\": null, "                      \
    "\"handle_chinese_chars\": true"

/* The files of a folder; NULL: not there. */
struct files {
    const char *vocab, *json, *config, *map;
};

static void write_text(const char *folder, const char *name, const char *text)
{
    if (text) {
        char *path = str_path(folder, name);
        EXPECT_OK(file_write_all(path, text, strlen(text)));
        mem_free(path);
    }
}

static yoke_status open_files(struct files files, struct tokenizer **tokenizer_out)
{
    char folder[64];
    test_folder_make(folder);
    write_text(folder, "vocab.txt", files.vocab);
    write_text(folder, "tokenizer.json", files.json);
    write_text(folder, "tokenizer_config.json", files.config);
    write_text(folder, "special_tokens_map.json", files.map);
    const yoke_status status = tokenizer_create(folder, tokenizer_out);
    test_folder_remove(folder);
    return status;
}

/* The tokens of `text`, joined by blanks, are `expected`. */
static void check_text(const struct tokenizer *tokenizer, const char *text, const char *expected)
{
    struct token_list list = {0};
    struct str found = {0};
    EXPECT_OK(tokenizer_encode(tokenizer, text, strlen(text), &list));
    for (size_t i = 0; i < list.n; i++) {
        const char *token = tokenizer_token(tokenizer, list.ids[i]);
        EXPECT_OK(str_printf(&found, "%s%s", i > 0 ? " " : "", token ? token : "(none)"));
    }
    assert_string_equal(str_text(&found), expected);
    str_fini(&found);
    token_list_fini(&list);
}

static void check_files(struct files files, const char *text, const char *expected)
{
    struct tokenizer *tokenizer;
    EXPECT_OK(open_files(files, &tokenizer));
    check_text(tokenizer, text, expected);
    tokenizer_destroy(tokenizer);
}

static void options_come_from_the_config(void **state)
{
    (void)state;
    const char *cased = "{\"do_lower_case\": false}";
    check_files((struct files){.vocab = VOCAB}, "Abcd", "abc ##d");
    check_files((struct files){.vocab = VOCAB, .config = cased}, "Abcd abc", "Abc ##d abc");
    check_files((struct files){.vocab = VOCAB}, "\xc3\xa9", "e");
    check_files((struct files){.vocab = VOCAB, .config = "{\"strip_accents\": false}"}, "\xc3\x89",
                "\xc3\xa9");
    /* tokenizer.json comes before vocab.txt; a BERT class ignores its normaliser, a generic one
     * does not. */
    log_set_level(LOG_ERROR);
    const char *json = JSON(CASED, "", "");
    check_files((struct files){.json = json, .vocab = "[UNK]\n"}, "Abc", "abc");
    check_files((struct files){.json = json, .config = cased}, "Abc", "Abc");
    check_files((struct files){.json = json,
                               .config = "{\"tokenizer_class\": \"PreTrainedTokenizerFast\"}"},
                "Abc", "Abc");
    log_set_level(LOG_INFO);
}

static void the_model_section_counts(void **state)
{
    (void)state;
    check_files((struct files){.json = JSON("", ", \"continuing_subword_prefix\": \"@\"", "")},
                "abcd abcdd", "abc @d abc @d @d");
    check_files((struct files){.json = JSON("", ", \"max_input_chars_per_word\": 4", "")},
                "abcd abcdd", "abc ##d [UNK]");
    check_files((struct files){.json = JSON("", ", \"unk_token\": \"abc\"", "")}, "zzz", "abc");
    check_files((struct files){.json = JSON("", ", \"unk_token\": \"abc\"", ""),
                               .config = "{\"unk_token\": \"[UNK]\"}"},
                "zzz", "[UNK]");
}

static void special_tokens_can_be_renamed(void **state)
{
    (void)state;
    struct tokenizer *tokenizer;
    EXPECT_OK(open_files((struct files){.vocab = "<u>\n<p>\n<c>\n<s>\nx\n",
                                        .map = "{\"unk_token\": \"<u>\", \"pad_token\": \"<p>\","
                                               " \"cls_token\": {\"content\": \"<c>\"},"
                                               " \"sep_token\": \"<s>\", \"mask_token\": \"<m>\"}",
                                        .config = "{\"unk_token\": \"x\"}"},
                         &tokenizer));
    assert_int_equal(tokenizer_cls_id(tokenizer), 2);
    assert_int_equal(tokenizer_sep_id(tokenizer), 3);
    assert_int_equal(tokenizer_pad_id(tokenizer), 1);
    assert_int_equal(tokenizer_vocab_size(tokenizer), 6); /* the named mask is new */
    check_text(tokenizer, "y<s>x <m>", "<u> <s> x <m>");
    tokenizer_destroy(tokenizer);
}

static void padding_and_mask_may_be_missing(void **state)
{
    (void)state;
    struct tokenizer *tokenizer;
    EXPECT_OK(open_files((struct files){.vocab = "[UNK]\n[CLS]\n[SEP]\n[\n]\nmask\n"}, &tokenizer));
    assert_int_equal(tokenizer_pad_id(tokenizer), 0);
    assert_int_equal(tokenizer_vocab_size(tokenizer), 6);
    check_text(tokenizer, "[MASK]", "[ mask ]");
    tokenizer_destroy(tokenizer);
}

static void max_length_has_no_limit_by_default(void **state)
{
    (void)state;
    const char *configs[] = {NULL, "{\"model_max_length\": 1000000000000000019884624838656}",
                             "{\"model_max_length\": 1e30}", "{\"model_max_length\": 512}"};
    for (size_t i = 0; i < 4; i++) {
        struct tokenizer *tokenizer;
        EXPECT_OK(open_files((struct files){.vocab = VOCAB, .config = configs[i]}, &tokenizer));
        assert_true(tokenizer_model_max_length(tokenizer) == (i < 3 ? SIZE_MAX : 512));
        tokenizer_destroy(tokenizer);
    }
}

static void broken_folders_say_where(void **state)
{
    (void)state;
    const struct {
        struct files files;
        yoke_status status;
        const char *part;
    } cases[] = {
        {{0}, YOKE_ERR_NOT_FOUND, "neither tokenizer.json nor vocab.txt"},
        {{.vocab = ""}, YOKE_ERR_FORMAT, "vocab.txt: line 1: the vocabulary is empty"},
        {{.vocab = "[UNK]\n[CLS]\nx\n"}, YOKE_ERR_FORMAT, "vocab.txt: the token [SEP] (sep_token)"},
        {{.vocab = "[UNK]\n[SEP]\nx\n"}, YOKE_ERR_FORMAT, "the token [CLS] (cls_token) is missing"},
        {{.vocab = "[CLS]\n[SEP]\nx\n"}, YOKE_ERR_FORMAT, "the token [UNK] (unk_token) is missing"},
        {{.vocab = VOCAB "abc\n"}, YOKE_ERR_FORMAT, "vocab.txt: line 11: token 'abc'"},
        {{.vocab = VOCAB "\xff\n"}, YOKE_ERR_FORMAT, "vocab.txt: line 11: not UTF-8"},
        {{.vocab = VOCAB, .config = "{\"do_lower_case\": 1}"},
         YOKE_ERR_CONFIG,
         "tokenizer_config.json: 'do_lower_case' must be true, false or null"},
        {{.vocab = VOCAB, .config = "{\"model_max_length\": -5}"},
         YOKE_ERR_CONFIG,
         "'model_max_length' must be a positive number"},
        {{.vocab = VOCAB, .config = "{\"cls_token\": 7}"},
         YOKE_ERR_CONFIG,
         "a special token must be"},
        {{.vocab = VOCAB, .config = "{\"added_tokens_decoder\": {\"x\": {\"content\": \"y\"}}}"},
         YOKE_ERR_CONFIG,
         "'x' is not an id"},
        {{.vocab = VOCAB, .config = "{\"added_tokens_decoder\": {\"3\": {\"content\": \"abc\"}}}"},
         YOKE_ERR_FORMAT,
         "the added token 'abc' has id 3, but its place in the vocabulary is 5"},
        {{.vocab = VOCAB, .config = "[]"},
         YOKE_ERR_FORMAT,
         "tokenizer_config.json: not a JSON object"},
        {{.vocab = VOCAB, .config = "{"}, YOKE_ERR_FORMAT, "tokenizer_config.json"},
        {{.json = "{\"model\": {\"type\": \"BPE\"}}"},
         YOKE_ERR_UNSUPPORTED,
         "tokenizer.json: model is BPE; only WordPiece"},
        {{.json = "{\"model\": {}, \"normalizer\": {\"type\": \"NFC\"}}"},
         YOKE_ERR_UNSUPPORTED,
         "normalizer is NFC; only BertNormalizer"},
        {{.json = "{\"model\": {}, \"normalizer\": {\"type\": \"BertNormalizer\"}}"},
         YOKE_ERR_UNSUPPORTED,
         "pre_tokenizer is missing; only BertPreTokenizer"},
        {{.json = JSON("", "", ", \"post_processor\": {\"type\": \"RobertaProcessing\"}")},
         YOKE_ERR_UNSUPPORTED,
         "post_processor does not put"},
        {{.json = JSON("", ", \"max_input_chars_per_word\": \"x\"", "")},
         YOKE_ERR_FORMAT,
         "'model.max_input_chars_per_word' is not a count"},
        {{.json = JSON("", "", ", \"added_tokens\": [{\"id\": 3, \"content\": \"[CLS]\"}]")},
         YOKE_ERR_FORMAT,
         "the added token '[CLS]' has id 3, but its place in the vocabulary is 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tokenizer *tokenizer = NULL;
        EXPECT_FAIL(open_files(cases[i].files, &tokenizer), cases[i].status, cases[i].part);
        assert_null(tokenizer);
    }
}

static void bad_ids_are_refused(void **state)
{
    (void)state;
#define IDS(pairs)                                                                                 \
    "{\"normalizer\": {\"type\": \"BertNormalizer\"}, \"pre_tokenizer\": {\"type\": "              \
    "\"BertPreTokenizer\"}, \"model\": {\"vocab\": {" pairs "}}}"
    struct tokenizer *tokenizer;
    EXPECT_FAIL(open_files((struct files){.json = IDS("\"a\": 0, \"b\": 0")}, &tokenizer),
                YOKE_ERR_FORMAT, "'model.vocab': id 0 of token 'b' belongs to 'a'");
    EXPECT_FAIL(open_files((struct files){.json = IDS("\"a\": -1")}, &tokenizer), YOKE_ERR_FORMAT,
                "the id of 'a' is not a number between 0 and");
    EXPECT_FAIL(open_files((struct files){.json = IDS("\"a\": 4000000000")}, &tokenizer),
                YOKE_ERR_FORMAT, "the id of 'a' is not a number between 0 and");
    EXPECT_FAIL(open_files((struct files){.json = IDS("")}, &tokenizer), YOKE_ERR_FORMAT,
                "'model.vocab' is not an object");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_come_from_the_config),
        cmocka_unit_test(the_model_section_counts),
        cmocka_unit_test(special_tokens_can_be_renamed),
        cmocka_unit_test(padding_and_mask_may_be_missing),
        cmocka_unit_test(max_length_has_no_limit_by_default),
        cmocka_unit_test(broken_folders_say_where),
        cmocka_unit_test(bad_ids_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
