/* JSON, read with jansson and written as Python writes it. Errors name file, line and column. */
#ifndef LEARN_FORMAT_JSON_H
#define LEARN_FORMAT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/core/status.h"
#include "base/core/str.h"

/* Reads a whole file (UTF-8, a BOM is skipped; lone surrogate escapes become U+FFFD; NUL escapes
 * are kept out of strings as U+FFFD; integers beyond int64 become doubles; of a repeated key the
 * last value counts). json_decref the result. YOKE_ERR_NOT_FOUND, YOKE_ERR_IO, or YOKE_ERR_FORMAT
 * when it is not JSON. */
yoke_status json_read_file(const char *path, json_t **json_out) YOKE_MUST_USE;

/* The same from memory; `name` stands for the file in errors. */
yoke_status json_read_text(const char *text, size_t n_bytes, const char *name,
                           json_t **json_out) YOKE_MUST_USE;

/* Appends `json` in the form of Python's json.dumps: indent > 0 spaces and one element a line,
 * indent 0 all on one line; keys as they lie or sorted by code point. Non-ASCII is escaped as
 * Python does ("\u00e9", surrogate pairs), floats are printed as Python's repr does (shortest form
 * that reads back, "1.0", "1e-05"), empty containers are "[]" and "{}". */
yoke_status json_print(struct str *out, const json_t *json, int indent,
                       bool sort_keys) YOKE_MUST_USE;

/* Appends `text` quoted and escaped. */
yoke_status json_append_string(struct str *out, const char *text) YOKE_MUST_USE;

/* Writes json_print's text whole or not at all, with a newline at the end. */
yoke_status json_write_file(const char *path, const json_t *json, int indent,
                            bool sort_keys) YOKE_MUST_USE;

/* Python's repr of a double, the shortest that reads back: "0.1", "1.0", "5e-05", "1e+16". */
char *json_format_double(double value, char buffer[static 32]);

#endif
