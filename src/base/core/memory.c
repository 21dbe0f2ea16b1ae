/* Counted, checked heap memory and page-aligned big blocks. */
#include "base/core/memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { BIG_PAGE_BYTES = 2 << 20 };

static atomic_uint_fast64_t n_allocations; /* relaxed: a statistic */

static void *count(void *block, size_t n, size_t size)
{
    atomic_fetch_add_explicit(&n_allocations, 1, memory_order_relaxed);
    if (!block) {
        (void)yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for %zu elements of %zu bytes", n, size);
    }
    return block;
}

/* n * size, at least 1: a valid pointer for nothing. False when it overflows. */
static bool multiply(size_t n, size_t size, size_t *bytes_out)
{
    if (__builtin_mul_overflow(n, size, bytes_out)) {
        return false;
    }
    *bytes_out += *bytes_out == 0;
    return true;
}

void *mem_calloc(size_t n, size_t size)
{
    size_t bytes;
    return count(multiply(n, size, &bytes) ? calloc(bytes, 1) : NULL, n, size);
}

void *mem_realloc(void *block, size_t n, size_t size)
{
    size_t bytes;
    return count(multiply(n, size, &bytes) ? realloc(block, bytes) : NULL, n, size);
}

void mem_free(void *block)
{
    free(block);
}

char *mem_strndup(const char *text, size_t n)
{
    char *copy = mem_calloc(n + 1, 1);
    if (copy) {
        memcpy(copy, text, n);
    }
    return copy;
}

char *mem_strdup(const char *text)
{
    return mem_strndup(text, strlen(text));
}

static size_t round_up_big(size_t bytes)
{
    return (bytes + BIG_PAGE_BYTES - 1) / BIG_PAGE_BYTES * BIG_PAGE_BYTES;
}

void *mem_big(size_t bytes)
{
    if (bytes < BIG_PAGE_BYTES) {
        void *block = count(aligned_alloc(64, (bytes + 64) / 64 * 64), bytes, 1);
        return block ? memset(block, 0, bytes) : NULL;
    }
    if (bytes > SIZE_MAX - BIG_PAGE_BYTES) {
        return count(NULL, bytes, 1);
    }
    const size_t rounded = round_up_big(bytes);
    void *block = mmap(NULL, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        return count(NULL, bytes, 1);
    }
    (void)madvise(block, rounded, MADV_HUGEPAGE); /* a hint: kernels without it still work */
    return count(block, bytes, 1);
}

void mem_free_big(void *block, size_t bytes)
{
    if (!block) {
        return;
    }
    if (bytes < BIG_PAGE_BYTES) {
        free(block);
    } else {
        (void)munmap(block, round_up_big(bytes));
    }
}

uint64_t mem_allocations(void)
{
    return atomic_load_explicit(&n_allocations, memory_order_relaxed);
}

yoke_status mem_grow(void *block_address, size_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity) {
        return YOKE_OK;
    }
    size_t next = *capacity <= SIZE_MAX / 4 ? *capacity * 2 : need;
    if (next < need) {
        next = need;
    }
    if (next < 16) {
        next = 16;
    }
    /* memcpy reads and writes the caller's pointer whatever its type is. */
    void *block;
    memcpy(&block, block_address, sizeof block);
    void *grown = mem_realloc(block, next, size);
    if (!grown) {
        return YOKE_ERR_NO_MEMORY;
    }
    memcpy(block_address, &grown, sizeof grown);
    *capacity = next;
    return YOKE_OK;
}
