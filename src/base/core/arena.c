/* A bump allocator with poisoned gaps. */
#include "base/core/arena.h"

#include <stdint.h>

#include "base/core/memory.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_ASAN 1
#endif
#endif

#ifdef ARENA_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(address, bytes) ASAN_POISON_MEMORY_REGION(address, bytes)
#define UNPOISON(address, bytes) ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#else
#define POISON(address, bytes) ((void)(address), (void)(bytes))
#define UNPOISON(address, bytes) ((void)(address), (void)(bytes))
#endif

enum { ALIGN_BYTES = 64 }; /* a cache line, and the widest vector */

yoke_status arena_init(struct arena *arena, size_t bytes)
{
    *arena = (struct arena){0};
    void *base = mem_big(bytes);
    if (!base) {
        return YOKE_ERR_NO_MEMORY;
    }
    *arena = (struct arena){.base = base, .size_bytes = bytes};
    POISON(arena->base, arena->size_bytes);
    return YOKE_OK;
}

void arena_fini(struct arena *arena)
{
    UNPOISON(arena->base, arena->size_bytes);
    mem_free_big(arena->base, arena->size_bytes);
    *arena = (struct arena){0};
}

/* One line more than the bytes ask for: neighbours never share a line, and the gap catches
 * overruns. */
size_t arena_need(size_t bytes)
{
    return (bytes / ALIGN_BYTES + 2) * ALIGN_BYTES;
}

void *arena_push(struct arena *arena, size_t bytes)
{
    const size_t need = arena_need(bytes);
    if (bytes > SIZE_MAX / 2 || need > arena->size_bytes - arena->used_bytes) {
        (void)yoke_fail(YOKE_ERR_INTERNAL,
                        "arena too small: %zu bytes asked, %zu of %zu in use; please report this",
                        bytes, arena->used_bytes, arena->size_bytes);
        return NULL;
    }
    unsigned char *piece = arena->base + arena->used_bytes;
    arena->used_bytes += need;
    UNPOISON(piece, bytes);
    return piece;
}
