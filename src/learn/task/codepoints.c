/* Every 64th code point is marked: an eighth of a byte of index for a byte of text, and at most 63
 * steps from a mark. A text of single bytes, which most are, needs no marks. */
#include "learn/task/codepoints.h"

#include "base/core/memory.h"
#include "learn/text/unicode.h"

enum { MARK_DISTANCE = 64 };

size_t codepoints_count(const char *text, size_t n_bytes)
{
    size_t n = 0;
    for (size_t byte = 0; byte < n_bytes; n++) {
        (void)unicode_decode(text, n_bytes, &byte, NULL);
    }
    return n;
}

static yoke_status set_marks(struct codepoints *index)
{
    YOKE_TRY(MEM_GROW(index->marks, index->capacity, index->n / MARK_DISTANCE + 1));
    size_t i = 0;
    for (size_t byte = 0; byte < index->n_bytes; i++) {
        if (i % MARK_DISTANCE == 0) {
            index->marks[i / MARK_DISTANCE] = byte;
        }
        (void)unicode_decode(index->text, index->n_bytes, &byte, NULL);
    }
    return YOKE_OK;
}

yoke_status codepoints_index(struct codepoints *index, const char *text, size_t n_bytes)
{
    if (index->text == text && index->n_bytes == n_bytes) {
        return YOKE_OK;
    }
    index->text = text;
    index->n_bytes = n_bytes;
    index->n = codepoints_count(text, n_bytes);
    const yoke_status status = index->n == n_bytes ? YOKE_OK : set_marks(index);
    if (status < 0) {
        index->text = NULL;
    }
    return status;
}

void codepoints_fini(struct codepoints *index)
{
    mem_free(index->marks);
    *index = (struct codepoints){0};
}

size_t codepoints_to_byte(const struct codepoints *index, size_t i)
{
    if (i >= index->n) {
        return index->n_bytes;
    }
    if (index->n == index->n_bytes) {
        return i;
    }
    size_t byte = index->marks[i / MARK_DISTANCE];
    for (size_t rest = i % MARK_DISTANCE; rest > 0; rest--) {
        (void)unicode_decode(index->text, index->n_bytes, &byte, NULL);
    }
    return byte;
}
