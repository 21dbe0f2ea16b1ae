/* Strings that grow, and a few questions about strings. */
#ifndef BASE_CORE_STR_H
#define BASE_CORE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

/* A string that grows; {0} is empty. `text` is NUL-terminated once anything was appended, else
 * NULL; str_text gives "" then. */
struct str {
    char *text;
    size_t len;
    size_t capacity;
};

yoke_status str_append(struct str *str, const char *text, size_t n) YOKE_MUST_USE;
yoke_status str_append_text(struct str *str, const char *text) YOKE_MUST_USE;
yoke_status str_printf(struct str *str, const char *format, ...)
    __attribute__((format(printf, 2, 3))) YOKE_MUST_USE;
const char *str_text(const struct str *str);
void str_clear(struct str *str);
void str_fini(struct str *str);

/* "DIRECTORY/NAME" in fresh memory (mem_free); NULL without memory. An empty directory is the
 * current one, never the root. */
char *str_path(const char *directory, const char *name);

/* Whole-text numbers: no blanks, no rest. False when `text` is not one or is out of range. */
bool str_to_int64(const char *text, int64_t *value_out);
bool str_to_double(const char *text, double *value_out);

/* Control characters become '?': user data ends up in messages, and a line break or an escape
 * sequence in it must not break the one line or the terminal. */
void str_keep_one_line(char *text);

bool str_ends_with(const char *text, const char *suffix);

/* Edit distance (optimal string alignment; V. I. Levenshtein 1966 with adjacent swaps) of two words
 * of at most 63 bytes; longer words give a large number. */
unsigned str_distance(const char *a, const char *b);

/* "12,345": thousands separated by commas, as the reference's log lines have it. Returns `buffer`.
 */
char *str_thousands(int64_t value, char buffer[static 32]);

#endif
