/* The stack machine of Python's pickle format (opcodes: Python's Lib/pickletools.py), as far as
 * plain values go; names, calls and persistent objects are the caller's opcodes.
 *
 * Values are nodes in one growing array and refer to each other by index (uint32_t), so that
 * freeing is one call and a cycle does no harm. Bounds:
 *  1. an opcode makes at most one node, pushes at most one value and moves at most what is on the
 *     stack: memory and time are linear in the pickle's size, which the caller limits;
 *  2. memo numbers count upwards in what Python writes; one beyond the pickle's size is refused;
 *  3. nothing is recursive.
 */
#ifndef LEARN_FORMAT_PICKLE_MACHINE_H
#define LEARN_FORMAT_PICKLE_MACHINE_H

#include "learn/format/tensor_info.h"

enum pickle_kind {
    PICKLE_MARK,
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_STRING,
    PICKLE_TUPLE,
    PICKLE_LIST,
    PICKLE_DICT,
    PICKLE_DTYPE, /* torch.FloatStorage and its kin */
    PICKLE_MAKER, /* a function that makes a value */
    PICKLE_STORAGE,
    PICKLE_TENSOR,
};

/* A value. Tuples: n items from `first` on in items. Dicts: a chain of entries. */
struct pickle_node {
    enum pickle_kind kind;
    union {
        int64_t number;
        struct {
            const unsigned char *text;
            size_t n_bytes;
        } string;
        struct {
            size_t first, n;
        } tuple;
        struct {
            size_t first_entry, last_entry, n; /* 1 + index into entries; 0: none */
        } dict;
        enum tensor_dtype dtype;
        int maker; /* which one: torch_pickle.c's numbers */
        struct {
            enum tensor_dtype dtype;
            uint32_t key;
            size_t n_elements;
        } storage;
        size_t tensor; /* number of the view */
    } as;
};

struct pickle_entry {
    uint32_t key, value;
    size_t next; /* 1 + index; 0: none */
};

struct pickle_vm {
    const char *name; /* of the file, for errors */
    const unsigned char *bytes;
    size_t n_bytes, at;
    bool stopped;
    struct pickle_node *nodes;
    size_t n_nodes, nodes_capacity;
    uint32_t *stack;
    size_t n_stack, stack_capacity;
    uint32_t *items; /* of tuples */
    size_t n_items, items_capacity;
    struct pickle_entry *entries; /* of dicts */
    size_t n_entries, entries_capacity;
    uint32_t *memo; /* 1 + node; 0: unset */
    size_t memo_size;
    void *context; /* of the opcodes that the caller adds */
};

typedef yoke_status (*pickle_function)(struct pickle_vm *vm);

/* An opcode that the caller adds; `code` is its byte. */
struct pickle_opcode {
    unsigned char code;
    pickle_function run;
};

/* Runs the borrowed pickle until STOP. YOKE_ERR_FORMAT with the place and the fault; an opcode
 * outside the machine's and the added ones is named. On an error too, fini releases the machine. */
yoke_status pickle_run(struct pickle_vm *vm, const char *name, const unsigned char *bytes,
                       size_t n_bytes, const struct pickle_opcode *added,
                       size_t n_added) YOKE_MUST_USE;
void pickle_fini(struct pickle_vm *vm);

/* For the added opcodes. */

/* YOKE_ERR_FORMAT with the place of the machine and `what`. Inline, so that the compiler sees that
 * the caller's caller leaves. */
static inline yoke_status pickle_damaged(const struct pickle_vm *vm, const char *what)
{
    return yoke_fail(YOKE_ERR_FORMAT, "%s: byte %zu of its pickle: %s", vm->name, vm->at, what);
}

/* The text up to the next line break, which is passed over. Borrowed, *n_out bytes. */
yoke_status pickle_take_line(struct pickle_vm *vm, const char **text_out, int *n_out) YOKE_MUST_USE;

yoke_status pickle_push(struct pickle_vm *vm, uint32_t id) YOKE_MUST_USE;
yoke_status pickle_push_node(struct pickle_vm *vm, struct pickle_node node) YOKE_MUST_USE;
yoke_status pickle_push_dict(struct pickle_vm *vm) YOKE_MUST_USE;
yoke_status pickle_pop(struct pickle_vm *vm, uint32_t *id_out) YOKE_MUST_USE;

/* The checks name the value's `role` ("the shape of a tensor") in their error. */
yoke_status pickle_pop_kind(struct pickle_vm *vm, enum pickle_kind kind, const char *role,
                            uint32_t *id_out) YOKE_MUST_USE;
yoke_status pickle_expect(const struct pickle_vm *vm, uint32_t id, enum pickle_kind kind,
                          const char *role) YOKE_MUST_USE;

/* The items of a tuple of at least n. Borrowed until the next value is made. */
yoke_status pickle_tuple_items(const struct pickle_vm *vm, uint32_t id, size_t n, const char *role,
                               const uint32_t **items_out) YOKE_MUST_USE;

/* A whole number from 0 up. */
yoke_status pickle_size(const struct pickle_vm *vm, uint32_t id, const char *role,
                        size_t *size_out) YOKE_MUST_USE;

#endif
