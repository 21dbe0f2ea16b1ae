/* Decoding, and every code point against the measured tables. */
#include "support.h"

#include <stdlib.h>

#include "learn/text/normalizer.h"
#include "learn/text/unicode.h"

static void check_decoded(const char *text, size_t n, const uint32_t *expected, size_t n_expected)
{
    struct normalized_text decoded = {0};
    EXPECT_OK(normalized_text_decode(text, n, &decoded));
    assert_int_equal(decoded.n, n_expected);
    for (size_t i = 0; i < n_expected; i++) {
        assert_int_equal(decoded.chars[i].code, expected[i]);
        assert_int_equal(decoded.chars[i].source, i);
    }
    normalized_text_fini(&decoded);
}

#define CHECK_DECODED(text, ...)                                                                   \
    check_decoded(text, sizeof(text) - 1, (const uint32_t[]){__VA_ARGS__},                         \
                  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* The examples of The Unicode Standard, tables 3-8 to 3-11. */
static void a_maximal_subpart_is_one_replacement(void **state)
{
    (void)state;
    CHECK_DECODED("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82"
                  "A",
                  0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 'A');
    CHECK_DECODED("\xed\xa0\x80\xed\xbf\xbf\xed\xaf"
                  "A",
                  0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 'A');
    CHECK_DECODED("\xf4\x91\x92\x93\xff"
                  "A\x80\xbf"
                  "B",
                  0xfffd, 0xfffd, 0xfffd, 0xfffd, 0xfffd, 'A', 0xfffd, 0xfffd, 'B');
    CHECK_DECODED("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf"
                  "A",
                  0xfffd, 0xfffd, 0xfffd, 0xfffd, 'A');
    CHECK_DECODED("\xf0\x9f\x98", 0xfffd);
    CHECK_DECODED("a\0b", 'a', 0, 'b');
}

static void codes_survive_encoding(void **state)
{
    (void)state;
    for (uint32_t code = 0; code < 0x110000; code++) {
        if (code >= 0xd800 && code <= 0xdfff) {
            continue;
        }
        char bytes[4];
        const size_t n = unicode_encode(code, bytes);
        size_t i = 0;
        bool valid = true;
        assert_int_equal(unicode_decode(bytes, n, &i, &valid), code);
        assert_true(valid);
        assert_int_equal(i, n);
    }
}

/* Reads a hexadecimal number at *text and moves behind it. */
static uint32_t read_hex(char **text)
{
    return (uint32_t)strtoul(*text, text, 16);
}

struct section {
    const char *name;
    unsigned flag;
};

static const struct section sections[] = {
    {"DELETE", UNICODE_DELETE},   {"SPACE", UNICODE_SPACE}, {"CJK", UNICODE_CJK},
    {"PRETOK_WS", UNICODE_WHITE}, {"MN", UNICODE_MARK},     {"PRETOK_PUNCT", UNICODE_PUNCT},
    {"STARTER", UNICODE_STARTER}, {"WHOLE", UNICODE_WHOLE},
};

/* What the file says of each code point: flags, and whether STRIP or LOWER change it. */
static uint8_t expected_flags[0x110000];
static bool changed[2][0x110000];

static unsigned find_flag(const char *line)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        const size_t n = strlen(sections[i].name);
        if (strncmp(line, sections[i].name, n) == 0 && line[n] == ':') {
            return sections[i].flag;
        }
    }
    return 0;
}

/* The step alone on one character: accents off (strip) or lower case. */
static void run_step(bool strip, uint32_t code, struct normalized_text *result)
{
    const struct normalizer_options options = {.strip_accents = strip, .lowercase = !strip};
    EXPECT_OK(normalizer_run(&options, &(struct normalized_char){code, 0}, 1, result));
}

/* Its result as the file writes it: hexadecimal, joined by '_'. */
static void print_step(bool strip, uint32_t code, char text[static 64])
{
    struct normalized_text result = {0};
    run_step(strip, code, &result);
    int n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < result.n; i++) {
        n += snprintf(text + n, 64 - (size_t)n, "%s%x", i > 0 ? "_" : "", result.chars[i].code);
    }
    normalized_text_fini(&result);
}

static void check_step(bool strip, char *line)
{
    const uint32_t code = read_hex(&line);
    char found[64];
    print_step(strip, code, found);
    line[strcspn(line, "\n")] = '\0';
    assert_string_equal(found, line + 1);
    changed[strip][code] = true;
}

static void read_file(void)
{
    FILE *file = fopen(YOKE_TEST_DATA "/golden/tokenizer/codepoints.txt", "r");
    assert_non_null(file);
    char line[256];
    char section[16] = "";
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#') {
            snprintf(section, sizeof section, "%.15s", line + 2);
            continue;
        }
        char *text = line;
        if (strncmp(section, "STRIP:", 6) == 0 || strncmp(section, "LOWER:", 6) == 0) {
            check_step(section[0] == 'S', text);
            continue;
        }
        const uint32_t first = read_hex(&text);
        const uint32_t last = *text == '-' ? (text++, read_hex(&text)) : first;
        for (uint32_t code = first; code <= last; code++) {
            expected_flags[code] |= (uint8_t)find_flag(section);
        }
    }
    fclose(file);
}

static void every_code_point_is_as_measured(void **state)
{
    (void)state;
    struct normalized_text result = {0};
    read_file();
    for (uint32_t code = 0; code < 0x110000; code++) {
        if (code >= 0xd800 && code <= 0xdfff) {
            continue;
        }
        assert_int_equal(unicode_flags(code), expected_flags[code]);
        if (!changed[false][code]) {
            run_step(false, code, &result);
            assert_true(result.n == 1 && result.chars[0].code == code);
        }
        const bool hangul = code >= 0xac00 && code <= 0xd7a3; /* the file leaves them out */
        if (!changed[true][code] && !hangul) {
            run_step(true, code, &result);
            const bool mark = expected_flags[code] & UNICODE_MARK;
            assert_true(mark ? result.n == 0 : result.n == 1 && result.chars[0].code == code);
        }
    }
    normalized_text_fini(&result);
    char jamo[64];
    print_step(true, 0xd55c, jamo);
    assert_string_equal(jamo, "1112_1161_11ab");
}

/* Words for the single_word flag: letters, marks, digits, connectors; not punctuation or symbols.
 */
static void word_characters_are_those_of_regular_expressions(void **state)
{
    (void)state;
    const uint32_t words[] = {'a',   'Z',    '0',    '_',    0xe9,   0x301,  0x4e2d,
                              0x660, 0x2160, 0x203f, 0x200d, 0x24b6, 0x1f150};
    const uint32_t others[] = {' ', '-', '[', 0xa0, 0x20ac, 0xb2, 0x2014, 0x1f600, 0x3000};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_true(unicode_is_word(words[i]));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(unicode_is_word(others[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_maximal_subpart_is_one_replacement),
        cmocka_unit_test(codes_survive_encoding),
        cmocka_unit_test(every_code_point_is_as_measured),
        cmocka_unit_test(word_characters_are_those_of_regular_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
