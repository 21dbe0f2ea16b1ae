/* JSON files, read and written with jansson. Errors name file, line and column. */
#ifndef LEARN_FORMAT_JSON_H
#define LEARN_FORMAT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/core/status.h"

/* Reads a whole file (UTF-8, a BOM is skipped; lone surrogate escapes become U+FFFD; NUL escapes are kept
 * out of strings as U+FFFD). json_decref the result. */
yoke_status json_read_file(const char *path, json_t **json_out) YOKE_MUST_USE;

/* The same from memory; `name` stands for the file in errors. */
yoke_status json_read_text(const char *text, size_t n_bytes, const char *name,
                           json_t **json_out) YOKE_MUST_USE;

/* Writes `json` whole or not at all, with a newline at the end. indent: spaces; sort_keys: as Python's
 * json.dump(sort_keys=True). Non-ASCII is escaped as Python does, floats are printed as Python's repr
 * does (shortest form that reads back, "1.0", "1e-05"). */
yoke_status json_write_file(const char *path, const json_t *json, int indent,
                            bool sort_keys) YOKE_MUST_USE;

/* Python's repr of a double: shortest digits that read back; "0.1", "1.0", "5e-05", "1e+16", "nan". */
char *json_format_double(double value, char buffer[static 32]);

#endif
