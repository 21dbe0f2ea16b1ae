/* JSON: jansson's parser behind three repairs, and a writer that prints as Python does.
 *
 * The files that users have were written by Python, whose json module accepts more than jansson:
 * lone surrogate escapes, NUL escapes, integers of any length ("model_max_length": 10**30 in many
 * tokenizer folders). Each repair replaces such a token by one of the same length, so that the
 * lines and columns of errors stay true; a text that needs no repair is parsed where it lies. The
 * writer is our own because jansson prints doubles with 17 digits and escapes in upper case: files
 * of both systems could not be compared. */
#include "learn/format/json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/memory.h"

/* The four hex digits behind "\u" at text[i], or -1. */
static int32_t unicode_escape(const char *text, size_t n, size_t i)
{
    if (n - i < 6 || text[i] != '\\' || text[i + 1] != 'u') {
        return -1;
    }
    int32_t code = 0;
    for (size_t j = i + 2; j < i + 6; j++) {
        const char c = text[j];
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) {
            return -1;
        }
        code = code * 16 + digit;
    }
    return code;
}

static bool is_high_surrogate(int32_t code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static bool is_low_surrogate(int32_t code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

/* Length of the escape at text[i] == '\\', and whether jansson would refuse it. */
static size_t escape_length(const char *text, size_t n, size_t i, bool *repair_out)
{
    const int32_t code = unicode_escape(text, n, i);
    *repair_out = false;
    if (code < 0) {
        return n - i < 2 ? 1 : 2;
    }
    if (is_high_surrogate(code) && is_low_surrogate(unicode_escape(text, n, i + 6))) {
        return 12;
    }
    *repair_out = code == 0 || is_high_surrogate(code) || is_low_surrogate(code);
    return 6;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the run of digits at text[i], and whether it is an integer beyond int64. */
static size_t digits_length(const char *text, size_t n, size_t i, bool *repair_out)
{
    size_t length = 0;
    while (i + length < n && is_digit(text[i + length])) {
        length++;
    }
    const char before = i > 0 ? text[i - 1] : '\0';
    const char after = i + length < n ? text[i + length] : '\0';
    const bool integer =
        !strchr(".eE+", before ? before : ' ') && after != '.' && after != 'e' && after != 'E';
    const char *limit = before == '-' ? "9223372036854775808" : "9223372036854775807";
    const bool exponent = before == '-' && i > 1 && (text[i - 2] == 'e' || text[i - 2] == 'E');
    *repair_out = integer && !exponent && text[i] != '0' &&
                  (length > 19 || (length == 19 && memcmp(text + i, limit, 19) > 0));
    return length;
}

/* Walks over tokens and repairs them in `copy`; with copy NULL, tells whether there is need to. */
static bool repair(const char *text, size_t n, char *copy)
{
    bool in_string = false;
    for (size_t i = 0, step; i < n; i += step) {
        bool broken = false;
        step = 1;
        if (text[i] == '"') {
            in_string = !in_string;
        } else if (in_string && text[i] == '\\') {
            step = escape_length(text, n, i, &broken);
        } else if (!in_string && is_digit(text[i])) {
            step = digits_length(text, n, i, &broken);
        }
        if (!broken) {
            continue;
        }
        if (!copy) {
            return true;
        }
        if (in_string) {
            memcpy(copy + i, "\\ufffd", 6);
        } else { /* 19 digits and more: a double does not see the last two */
            memcpy(copy + i + step - 2, "e2", 2);
        }
    }
    return false;
}

yoke_status json_read_text(const char *text, size_t n_bytes, const char *name, json_t **json_out)
{
    if (n_bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        n_bytes -= 3;
    }
    char *copy = NULL;
    if (repair(text, n_bytes, NULL)) {
        YOKE_TRY(MEM_NEW(copy, n_bytes));
        memcpy(copy, text, n_bytes);
        (void)repair(text, n_bytes, copy);
    }
    json_error_t error = {0};
    json_t *json = json_loadb(copy ? copy : text, n_bytes, JSON_DECODE_ANY, &error);
    mem_free(copy);
    if (!json && json_error_code(&error) == json_error_out_of_memory) {
        return yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for the %zu bytes of JSON in %s", n_bytes,
                         name);
    }
    if (!json) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s is not JSON: line %d, column %d: %s", name,
                         error.line, error.column, error.text);
    }
    *json_out = json;
    return YOKE_OK;
}

yoke_status json_read_file(const char *path, json_t **json_out)
{
    struct file_map map;
    YOKE_TRY(file_map_open(path, &map));
    const yoke_status status =
        json_read_text((const char *)map.data, map.size_bytes, path, json_out);
    file_map_close(&map);
    return status;
}

/* The next decimal of as many digits, away from zero; "9.99e+02" has none and becomes no number. */
static void increment_last_digit(char *text)
{
    char *p = strchr(text, 'e') - 1;
    while (p > text && (*p == '9' || *p == '.')) {
        *p = *p == '9' ? '0' : '.';
        p--;
    }
    ++*p;
}

/* Shortest digits that read back, as "d.ddde+XX". Decimals of up to 15 digits survive the way to a
 * normal double and back, so the shortest form is found among 15 (less trailing zeros), 16 and 17
 * digits; subnormals hold fewer digits and are searched from 1. Above a power of two doubles lie
 * twice as far apart as below it: there the decimal above may read back where the nearer one below
 * does not. */
static void shortest_digits(double value, char text[static 32])
{
    for (int precision = fabs(value) < DBL_MIN ? 0 : 14; precision <= 16; precision++) {
        snprintf(text, 32, "%.*e", precision, value);
        if (strtod(text, NULL) == value) {
            return;
        }
        if (precision == 15) {
            increment_last_digit(text);
            if (strtod(text, NULL) == value) {
                return;
            }
        }
    }
}

char *json_format_double(double value, char buffer[static 32])
{
    if (value - value != 0.0) { /* inf - inf and nan - nan are not 0 */
        snprintf(buffer, 32, "%s", value != value ? "nan" : value > 0 ? "inf" : "-inf");
        return buffer;
    }
    char text[32];
    shortest_digits(value, text);
    char digits[32];
    int n = 0;
    const char *p = text + (text[0] == '-');
    for (; *p != 'e'; p++) {
        if (*p != '.') {
            digits[n++] = *p;
        }
    }
    const int exponent = (int)strtol(p + 1, NULL, 10);
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    digits[n] = '\0';
    const char *sign = text[0] == '-' ? "-" : "";
    if (exponent < -4 || exponent >= 16) {
        snprintf(buffer, 32, "%s%c%s%.16s%.5s", sign, digits[0], n > 1 ? "." : "", digits + 1, p);
    } else if (exponent < 0) {
        snprintf(buffer, 32, "%s0.%.*s%.17s", sign, -exponent - 1, "000", digits);
    } else if (n <= exponent + 1) {
        snprintf(buffer, 32, "%.1f", value); /* a whole number below 1e16: exact */
    } else {
        snprintf(buffer, 32, "%s%.*s.%.17s", sign, exponent + 1, digits, digits + exponent + 1);
    }
    return buffer;
}

/* The code point at *text, which moves behind it. jansson's strings are valid UTF-8. */
static uint32_t next_code_point(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    const int n_more = p[0] < 0xc0 ? 0 : p[0] < 0xe0 ? 1 : p[0] < 0xf0 ? 2 : 3;
    uint32_t code = n_more == 0 ? p[0] : p[0] & (0x3fu >> n_more);
    for (int i = 1; i <= n_more; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            *text += i;
            return 0xfffd;
        }
        code = code << 6 | (p[i] & 0x3fu);
    }
    *text += n_more + 1;
    return code;
}

yoke_status json_append_string(struct str *out, const char *text)
{
    static const char plain_escapes[] = "\"\\\n\r\t\f\b";
    static const char letters[] = "\"\\nrtfb";
    YOKE_TRY(str_append(out, "\"", 1));
    while (*text) {
        size_t n_plain = 0;
        while (text[n_plain] >= ' ' && text[n_plain] <= '~' && text[n_plain] != '"' &&
               text[n_plain] != '\\') {
            n_plain++;
        }
        YOKE_TRY(str_append(out, text, n_plain));
        text += n_plain;
        if (!*text) {
            break;
        }
        const uint32_t code = next_code_point(&text);
        const char *known = code < 128 ? strchr(plain_escapes, (int)code) : NULL;
        if (known) {
            YOKE_TRY(str_printf(out, "\\%c", letters[known - plain_escapes]));
        } else if (code < 0x10000) {
            YOKE_TRY(str_printf(out, "\\u%04" PRIx32, code));
        } else {
            const uint32_t rest = code - 0x10000;
            YOKE_TRY(str_printf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + (rest >> 10),
                                0xdc00 + (rest & 0x3ff)));
        }
    }
    return str_append(out, "\"", 1);
}

struct style {
    int indent;
    bool sort_keys;
};

static yoke_status print_value(struct str *out, const json_t *json, struct style style, int depth);

/* What stands between elements: a new line with its indent, or a blank on one line. */
static yoke_status print_break(struct str *out, struct style style, int depth, bool first)
{
    if (style.indent > 0) {
        return str_printf(out, "%s\n%*s", first ? "" : ",", style.indent * depth, "");
    }
    return first ? YOKE_OK : str_append(out, ", ", 2);
}

static yoke_status print_end(struct str *out, struct style style, int depth, char bracket)
{
    if (style.indent > 0) {
        return str_printf(out, "\n%*s%c", style.indent * depth, "", bracket);
    }
    return str_append(out, &bracket, 1);
}

static yoke_status print_array(struct str *out, const json_t *json, struct style style, int depth)
{
    const size_t n = json_array_size(json);
    if (n == 0) {
        return str_append(out, "[]", 2);
    }
    YOKE_TRY(str_append(out, "[", 1));
    for (size_t i = 0; i < n; i++) {
        YOKE_TRY(print_break(out, style, depth + 1, i == 0));
        YOKE_TRY(print_value(out, json_array_get(json, i), style, depth + 1));
    }
    return print_end(out, style, depth, ']');
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static yoke_status print_members(struct str *out, const json_t *json, const char *const *keys,
                                 size_t n, struct style style, int depth)
{
    YOKE_TRY(str_append(out, "{", 1));
    for (size_t i = 0; i < n; i++) {
        YOKE_TRY(print_break(out, style, depth + 1, i == 0));
        YOKE_TRY(json_append_string(out, keys[i]));
        YOKE_TRY(str_append(out, ": ", 2));
        YOKE_TRY(print_value(out, json_object_get(json, keys[i]), style, depth + 1));
    }
    return print_end(out, style, depth, '}');
}

static yoke_status print_object(struct str *out, const json_t *json, struct style style, int depth)
{
    const size_t n = json_object_size(json);
    if (n == 0) {
        return str_append(out, "{}", 2);
    }
    const char **keys = NULL;
    YOKE_TRY(MEM_NEW(keys, n));
    size_t i = 0;
    /* jansson's iterators take a pointer to non-const although they only read. */
    json_t *object = (json_t *)(uintptr_t)json;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        keys[i++] = json_object_iter_key(at);
    }
    if (style.sort_keys) {
        qsort(keys, n, sizeof *keys, by_bytes);
    }
    const yoke_status status = print_members(out, json, keys, n, style, depth);
    mem_free(keys);
    return status;
}

static yoke_status print_value(struct str *out, const json_t *json, struct style style, int depth)
{
    char number[32];
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return print_object(out, json, style, depth);
    case JSON_ARRAY:
        return print_array(out, json, style, depth);
    case JSON_STRING:
        return json_append_string(out, json_string_value(json));
    case JSON_INTEGER:
        return str_printf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
    case JSON_REAL:
        return str_append_text(out, json_format_double(json_real_value(json), number));
    case JSON_TRUE:
        return str_append_text(out, "true");
    case JSON_FALSE:
        return str_append_text(out, "false");
    case JSON_NULL:
        return str_append_text(out, "null");
    }
    return yoke_fail(YOKE_ERR_INTERNAL, "a JSON value of unknown type %d", (int)json_typeof(json));
}

yoke_status json_print(struct str *out, const json_t *json, int indent, bool sort_keys)
{
    return print_value(out, json, (struct style){.indent = indent, .sort_keys = sort_keys}, 0);
}

yoke_status json_write_file(const char *path, const json_t *json, int indent, bool sort_keys)
{
    struct str text = {0};
    yoke_status status;
    YOKE_TRY_GOTO(json_print(&text, json, indent, sort_keys));
    YOKE_TRY_GOTO(str_append(&text, "\n", 1));
    YOKE_TRY_GOTO(file_write_all(path, text.text, text.len));
done:
    str_fini(&text);
    return status;
}
