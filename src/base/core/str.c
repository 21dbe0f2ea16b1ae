/* Growing strings, numbers, distances. */
#include "base/core/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"

yoke_status str_append(struct str *str, const char *text, size_t n)
{
    YOKE_TRY(MEM_GROW(str->text, str->capacity, str->len + n + 1));
    memcpy(str->text + str->len, text, n);
    str->len += n;
    str->text[str->len] = '\0';
    return YOKE_OK;
}

yoke_status str_append_text(struct str *str, const char *text)
{
    return str_append(str, text, strlen(text));
}

yoke_status str_printf(struct str *str, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) {
        return yoke_fail(YOKE_ERR_INTERNAL, "cannot format a string with '%s'", format);
    }
    YOKE_TRY(MEM_GROW(str->text, str->capacity, str->len + (size_t)n + 1));
    va_start(args, format);
    vsnprintf(str->text + str->len, (size_t)n + 1, format, args);
    va_end(args);
    str->len += (size_t)n;
    return YOKE_OK;
}

const char *str_text(const struct str *str)
{
    return str->text ? str->text : "";
}

void str_clear(struct str *str)
{
    str->len = 0;
    if (str->text) {
        str->text[0] = '\0';
    }
}

void str_fini(struct str *str)
{
    mem_free(str->text);
    *str = (struct str){0};
}

char *str_path(const char *directory, const char *name)
{
    struct str path = {0};
    const size_t n = strlen(directory);
    const char *slash = n == 0 || directory[n - 1] == '/' ? "" : "/";
    if (str_printf(&path, "%s%s%s", directory, slash, name) < 0) {
        str_fini(&path);
        return NULL;
    }
    return path.text;
}

bool str_to_int64(const char *text, int64_t *value_out)
{
    if (!*text || strchr(" \t\n\v\f\r", *text)) {
        return false;
    }
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end) {
        return false;
    }
    *value_out = value;
    return true;
}

bool str_to_double(const char *text, double *value_out)
{
    if (!*text || strchr(" \t\n\v\f\r", *text)) {
        return false;
    }
    char *end;
    const double value = strtod(text, &end); /* the program never leaves the "C" locale */
    if (*end || value - value != 0.0) {      /* inf - inf and nan - nan are not 0 */
        return false;
    }
    *value_out = value;
    return true;
}

/* Bytes above 0x7f stay: they are UTF-8. */
void str_keep_one_line(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            *text = '?';
        }
    }
}

bool str_ends_with(const char *text, const char *suffix)
{
    const size_t n = strlen(text);
    const size_t m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    const unsigned ab = a < b ? a : b;
    return ab < c ? ab : c;
}

unsigned str_distance(const char *a, const char *b)
{
    enum { MAX = 63 };
    const size_t n = strlen(a);
    const size_t m = strlen(b);
    if (n > MAX || m > MAX) {
        return 2 * MAX;
    }
    unsigned rows[3][MAX + 1]; /* rows i-2, i-1, i of the distance matrix, used in turn */
    for (size_t j = 0; j <= m; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= n; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *up = rows[(i + 2) % 3];
        const unsigned *up2 = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            row[j] = min3(up[j] + 1, row[j - 1] + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                up2[j - 2] + 1 < row[j]) {
                row[j] = up2[j - 2] + 1;
            }
        }
    }
    return rows[n % 3][m];
}

char *str_thousands(int64_t value, char buffer[static 32])
{
    char digits[24];
    const int n = snprintf(digits, sizeof digits, "%" PRIu64,
                           value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    char *out = buffer;
    if (value < 0) {
        *out++ = '-';
    }
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = '\0';
    return buffer;
}
