/* An arena: one block, handed out front to back, given back all at once.
 *
 * Scratch and activations of a step live in arenas that are sized before the first step, so that a
 * step allocates nothing. Under AddressSanitizer the gap behind each piece is poisoned. */
#ifndef BASE_CORE_ARENA_H
#define BASE_CORE_ARENA_H

#include <stddef.h>

#include "base/core/status.h"

struct arena {
    unsigned char *base;
    size_t size_bytes;
    size_t used_bytes;
};

/* Reserves `bytes` bytes (mem_big); on an error *arena is all zero. */
yoke_status arena_init(struct arena *arena, size_t bytes) YOKE_MUST_USE;
void arena_fini(struct arena *arena);

/* `bytes` bytes on a 64-byte boundary, contents undefined; NULL with the message set when the arena
 * is full. */
void *arena_push(struct arena *arena, size_t bytes);

/* What arena_push(bytes) takes from an arena: for sizing. */
size_t arena_need(size_t bytes);

#endif
