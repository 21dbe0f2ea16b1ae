/* What Python's str thinks of characters: isspace, \w, lower.
 *
 * The reference strips questions and normalises answers with Python's own methods, which follow a
 * younger Unicode than its tokenizer (unicode.h) and know the final sigma. Equal to Python 3.11 for
 * every code point assigned in Unicode 14. */
#ifndef LEARN_TEXT_PYSTR_H
#define LEARN_TEXT_PYSTR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool pystr_is_space(uint32_t code);

/* Bytes of white space at the beginning of a text: what lstrip takes away. */
size_t pystr_leading_space(const char *text, size_t n_bytes);

/* \w of Python's re: letters, numbers of all kinds, the underscore; no marks. */
bool pystr_is_word(uint32_t code);

/* Lower case of codes[i] among codes[0..n). Returns 1 or 2, the number of code points written. */
size_t pystr_lower(const uint32_t *codes, size_t n, size_t i, uint32_t codes_out[static 2]);

#endif
