/* Heap memory of yoke: every block of the program comes from here.
 *
 * Blocks are counted (a test proves that a training step allocates nothing) and, the large ones,
 * aligned to pages with huge pages asked for. Requests are checked for overflow. */
#ifndef BASE_CORE_MEMORY_H
#define BASE_CORE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

/* `n` zeroed elements of `size` bytes; n = 0 gives a valid pointer. NULL when there is no memory or
 * n * size overflows, with the message set. Free with mem_free. Prefer MEM_NEW. */
void *mem_calloc(size_t n, size_t size);

/* Resizes a block of mem_calloc to n * size bytes; new bytes are not zeroed. NULL (the old block
 * stays) as above. */
void *mem_realloc(void *block, size_t n, size_t size);

/* Frees a block of mem_calloc, mem_realloc or mem_strdup; NULL is allowed. */
void mem_free(void *block);

/* Copies of a string, or of its first `n` bytes with a NUL behind. NULL without memory. */
char *mem_strdup(const char *text);
char *mem_strndup(const char *text, size_t n);

/* `bytes` zeroed bytes on a 64-byte boundary for arrays that kernels read, page aligned and with
 * huge pages asked for from 2 MiB up. NULL without memory. Free with mem_free_big and the same
 * size. */
void *mem_big(size_t bytes);
void mem_free_big(void *block, size_t bytes);

/* Calls of mem_calloc, mem_realloc, mem_strdup and mem_big so far, over all threads. */
uint64_t mem_allocations(void);

/* YOKE_TRY(MEM_NEW(pointer, n)): n zeroed elements of what `pointer` points to. */
#define MEM_NEW(pointer, n)                                                                        \
    (((pointer) = mem_calloc((n), sizeof *(pointer))) ? YOKE_OK : YOKE_ERR_NO_MEMORY)

/* YOKE_TRY(MEM_GROW(pointer, capacity, need)): makes room for `need` elements, at least doubling
 * `capacity` (a size_t lvalue, 0 with pointer NULL at first). */
#define MEM_GROW(pointer, capacity, need)                                                          \
    mem_grow((void *)&(pointer), &(capacity), (need), sizeof *(pointer))

/* The function behind MEM_GROW; `block_address` is the address of the pointer. */
yoke_status mem_grow(void *block_address, size_t *capacity, size_t need, size_t size) YOKE_MUST_USE;

#endif
