/* Places in a text: from code points, in which data sets count, to bytes, in which memory does. */
#ifndef LEARN_TASK_CODEPOINTS_H
#define LEARN_TASK_CODEPOINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

/* An index over one text; {0} is that of the empty text. Meant to be reused for the next text. */
struct codepoints {
    const char *text; /* borrowed */
    size_t n_bytes;
    size_t n;      /* code points; a malformed sequence counts as the tokenizer counts it */
    size_t *marks; /* byte of every 64th code point; unused when all are single bytes */
    size_t capacity;
};

/* Makes *index that of `text`; costs nothing when it is already, which is told from address and
 * size: while the index is in use, texts that it has seen stay where they are. */
yoke_status codepoints_index(struct codepoints *index, const char *text,
                             size_t n_bytes) YOKE_MUST_USE;
void codepoints_fini(struct codepoints *index);

/* Byte at which code point `i` begins, in constant time; n_bytes for i >= n. */
size_t codepoints_to_byte(const struct codepoints *index, size_t i);

/* Number of code points of n_bytes of text. */
size_t codepoints_count(const char *text, size_t n_bytes);

#endif
