/* One function per opcode and a table of them. */
#include "learn/format/pickle_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/core/memory.h"

enum { PROTOCOL = 2, MAX_LINE_BYTES = 1000 };

static const char *const kind_names[] = {
    "a mark", "None",         "a truth value",  "a number",   "a string",  "a tuple",
    "a list", "a dictionary", "a storage type", "a function", "a storage", "a tensor",
};

static yoke_status take(struct pickle_vm *vm, size_t n, const unsigned char **bytes_out)
{
    if (n > vm->n_bytes - vm->at) {
        return pickle_damaged(vm, "the pickle is cut off");
    }
    *bytes_out = vm->bytes + vm->at;
    vm->at += n;
    return YOKE_OK;
}

/* The next n <= 8 bytes, little-endian. */
static yoke_status take_number(struct pickle_vm *vm, size_t n, uint64_t *number_out)
{
    const unsigned char *bytes;
    YOKE_TRY(take(vm, n, &bytes));
    uint64_t number = 0;
    for (size_t i = n; i > 0; i--) {
        number = number << 8 | bytes[i - 1];
    }
    *number_out = number;
    return YOKE_OK;
}

yoke_status pickle_push(struct pickle_vm *vm, uint32_t id)
{
    YOKE_TRY(MEM_GROW(vm->stack, vm->stack_capacity, vm->n_stack + 1));
    vm->stack[vm->n_stack++] = id;
    return YOKE_OK;
}

yoke_status pickle_push_node(struct pickle_vm *vm, struct pickle_node node)
{
    YOKE_TRY(MEM_GROW(vm->nodes, vm->nodes_capacity, vm->n_nodes + 1));
    vm->nodes[vm->n_nodes] = node;
    return pickle_push(vm, (uint32_t)vm->n_nodes++);
}

static yoke_status push_number(struct pickle_vm *vm, enum pickle_kind kind, int64_t number)
{
    return pickle_push_node(vm, (struct pickle_node){.kind = kind, .as.number = number});
}

yoke_status pickle_pop(struct pickle_vm *vm, uint32_t *id_out)
{
    if (vm->n_stack == 0) {
        return pickle_damaged(vm, "a value is taken from an empty stack");
    }
    *id_out = vm->stack[--vm->n_stack];
    return YOKE_OK;
}

yoke_status pickle_expect(const struct pickle_vm *vm, uint32_t id, enum pickle_kind kind,
                          const char *role)
{
    char what[96];
    if (vm->nodes[id].kind == kind) {
        return YOKE_OK;
    }
    snprintf(what, sizeof what, "%s is %s, not %s", role, kind_names[vm->nodes[id].kind],
             kind_names[kind]);
    return pickle_damaged(vm, what);
}

yoke_status pickle_pop_kind(struct pickle_vm *vm, enum pickle_kind kind, const char *role,
                            uint32_t *id_out)
{
    YOKE_TRY(pickle_pop(vm, id_out));
    return pickle_expect(vm, *id_out, kind, role);
}

static yoke_status find_mark(const struct pickle_vm *vm, size_t *index_out)
{
    for (size_t i = vm->n_stack; i > 0; i--) {
        if (vm->nodes[vm->stack[i - 1]].kind == PICKLE_MARK) {
            *index_out = i - 1;
            return YOKE_OK;
        }
    }
    return pickle_damaged(vm, "there is no mark on the stack");
}

/* --- opcodes that make values --- */

static yoke_status run_proto(struct pickle_vm *vm)
{
    uint64_t protocol;
    YOKE_TRY(take_number(vm, 1, &protocol));
    return protocol == PROTOCOL ? YOKE_OK
                                : pickle_damaged(vm, "torch writes pickle protocol 2 only");
}

static yoke_status run_mark(struct pickle_vm *vm)
{
    return push_number(vm, PICKLE_MARK, 0);
}

static yoke_status run_none(struct pickle_vm *vm)
{
    return push_number(vm, PICKLE_NONE, 0);
}

static yoke_status run_true(struct pickle_vm *vm)
{
    return push_number(vm, PICKLE_BOOL, 1);
}

static yoke_status run_false(struct pickle_vm *vm)
{
    return push_number(vm, PICKLE_BOOL, 0);
}

static yoke_status run_int4(struct pickle_vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 4, &number));
    return push_number(vm, PICKLE_INT, (int32_t)(uint32_t)number);
}

static yoke_status run_int1(struct pickle_vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 1, &number));
    return push_number(vm, PICKLE_INT, (int64_t)number);
}

static yoke_status run_int2(struct pickle_vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 2, &number));
    return push_number(vm, PICKLE_INT, (int64_t)number);
}

static yoke_status run_long1(struct pickle_vm *vm)
{
    uint64_t n, number;
    YOKE_TRY(take_number(vm, 1, &n));
    if (n > 8) {
        return pickle_damaged(vm, "a number has more than 64 bits");
    }
    YOKE_TRY(take_number(vm, (size_t)n, &number));
    if (n > 0 && n < 8 && number >> (8 * n - 1)) { /* two's complement in n bytes */
        number |= UINT64_MAX << (8 * n);
    }
    return push_number(vm, PICKLE_INT, (int64_t)number);
}

static yoke_status run_unicode(struct pickle_vm *vm)
{
    uint64_t n;
    const unsigned char *text;
    YOKE_TRY(take_number(vm, 4, &n));
    YOKE_TRY(take(vm, (size_t)n, &text));
    return pickle_push_node(
        vm, (struct pickle_node){.kind = PICKLE_STRING,
                                 .as.string = {.text = text, .n_bytes = (size_t)n}});
}

static yoke_status run_empty_list(struct pickle_vm *vm)
{
    return push_number(vm, PICKLE_LIST, 0);
}

yoke_status pickle_push_dict(struct pickle_vm *vm)
{
    return pickle_push_node(vm, (struct pickle_node){.kind = PICKLE_DICT});
}

/* The stack's values from `first` on become a tuple. */
static yoke_status make_tuple(struct pickle_vm *vm, size_t first)
{
    const size_t n = vm->n_stack - first;
    const struct pickle_node tuple = {.kind = PICKLE_TUPLE,
                                      .as.tuple = {.first = vm->n_items, .n = n}};
    YOKE_TRY(MEM_GROW(vm->items, vm->items_capacity, vm->n_items + n + 1));
    memcpy(vm->items + vm->n_items, vm->stack + first, n * sizeof *vm->items);
    vm->n_items += n;
    vm->n_stack = first;
    return pickle_push_node(vm, tuple);
}

static yoke_status run_empty_tuple(struct pickle_vm *vm)
{
    YOKE_TRY(MEM_GROW(vm->stack, vm->stack_capacity, 1));
    return make_tuple(vm, vm->n_stack);
}

static yoke_status run_tuple(struct pickle_vm *vm)
{
    size_t mark;
    YOKE_TRY(find_mark(vm, &mark));
    YOKE_TRY(make_tuple(vm, mark + 1));
    vm->stack[mark] = vm->stack[mark + 1];
    vm->n_stack = mark + 1;
    return YOKE_OK;
}

static yoke_status make_short_tuple(struct pickle_vm *vm, size_t n)
{
    if (vm->n_stack < n) {
        return pickle_damaged(vm, "a tuple wants more values than there are");
    }
    return make_tuple(vm, vm->n_stack - n);
}

static yoke_status run_tuple1(struct pickle_vm *vm)
{
    return make_short_tuple(vm, 1);
}

static yoke_status run_tuple2(struct pickle_vm *vm)
{
    return make_short_tuple(vm, 2);
}

static yoke_status run_tuple3(struct pickle_vm *vm)
{
    return make_short_tuple(vm, 3);
}

/* --- the memo --- */

static yoke_status memo_put(struct pickle_vm *vm, uint64_t number)
{
    if (number >= vm->memo_size) {
        return pickle_damaged(vm, "a memo number is larger than the pickle");
    }
    if (vm->n_stack == 0) {
        return pickle_damaged(vm, "an empty stack is stored in the memo");
    }
    vm->memo[number] = vm->stack[vm->n_stack - 1] + 1;
    return YOKE_OK;
}

static yoke_status memo_get(struct pickle_vm *vm, uint64_t number)
{
    if (number >= vm->memo_size || vm->memo[number] == 0) {
        return pickle_damaged(vm, "a memo number was never stored");
    }
    return pickle_push(vm, vm->memo[number] - 1);
}

static yoke_status run_put1(struct pickle_vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 1, &number));
    return memo_put(vm, number);
}

static yoke_status run_put4(struct pickle_vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 4, &number));
    return memo_put(vm, number);
}

static yoke_status run_get1(struct pickle_vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 1, &number));
    return memo_get(vm, number);
}

static yoke_status run_get4(struct pickle_vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 4, &number));
    return memo_get(vm, number);
}

/* --- dictionaries --- */

static yoke_status dict_add(struct pickle_vm *vm, uint32_t dict, uint32_t key, uint32_t value)
{
    YOKE_TRY(MEM_GROW(vm->entries, vm->entries_capacity, vm->n_entries + 1));
    vm->entries[vm->n_entries++] = (struct pickle_entry){.key = key, .value = value};
    struct pickle_node *node = &vm->nodes[dict];
    if (node->as.dict.last_entry > 0) {
        vm->entries[node->as.dict.last_entry - 1].next = vm->n_entries;
    } else {
        node->as.dict.first_entry = vm->n_entries;
    }
    node->as.dict.last_entry = vm->n_entries;
    node->as.dict.n++;
    return YOKE_OK;
}

static yoke_status run_setitem(struct pickle_vm *vm)
{
    uint32_t value, key;
    YOKE_TRY(pickle_pop(vm, &value));
    YOKE_TRY(pickle_pop(vm, &key));
    if (vm->n_stack == 0) {
        return pickle_damaged(vm, "an item is set in an empty stack");
    }
    const uint32_t dict = vm->stack[vm->n_stack - 1];
    YOKE_TRY(pickle_expect(vm, dict, PICKLE_DICT, "what an item is set in"));
    return dict_add(vm, dict, key, value);
}

static yoke_status run_setitems(struct pickle_vm *vm)
{
    size_t mark;
    YOKE_TRY(find_mark(vm, &mark));
    if (mark == 0 || (vm->n_stack - mark) % 2 == 0) {
        return pickle_damaged(vm, "items are set without a dictionary or without a value");
    }
    const uint32_t dict = vm->stack[mark - 1];
    YOKE_TRY(pickle_expect(vm, dict, PICKLE_DICT, "what items are set in"));
    for (size_t i = mark + 1; i < vm->n_stack; i += 2) {
        YOKE_TRY(dict_add(vm, dict, vm->stack[i], vm->stack[i + 1]));
    }
    vm->n_stack = mark;
    return YOKE_OK;
}

/* BUILD gives an object its attributes; a state dict's one, "_metadata", means nothing here. */
static yoke_status run_build(struct pickle_vm *vm)
{
    uint32_t state;
    YOKE_TRY(pickle_pop_kind(vm, PICKLE_DICT, "the state of an object", &state));
    if (vm->n_stack == 0) {
        return pickle_damaged(vm, "a state is given to an empty stack");
    }
    return pickle_expect(vm, vm->stack[vm->n_stack - 1], PICKLE_DICT, "what is given a state");
}

/* --- for the caller's opcodes --- */

yoke_status pickle_take_line(struct pickle_vm *vm, const char **text_out, int *n_out)
{
    const unsigned char *start = vm->bytes + vm->at;
    const unsigned char *end = memchr(start, '\n', vm->n_bytes - vm->at);
    if (!end || end - start > MAX_LINE_BYTES) {
        return pickle_damaged(vm, "a name has no end");
    }
    *text_out = (const char *)start;
    *n_out = (int)(end - start);
    vm->at += (size_t)*n_out + 1;
    return YOKE_OK;
}

yoke_status pickle_tuple_items(const struct pickle_vm *vm, uint32_t id, size_t n, const char *role,
                               const uint32_t **items_out)
{
    YOKE_TRY(pickle_expect(vm, id, PICKLE_TUPLE, role));
    if (vm->nodes[id].as.tuple.n < n) {
        return pickle_damaged(vm, "a tuple has too few items");
    }
    *items_out = vm->items + vm->nodes[id].as.tuple.first;
    return YOKE_OK;
}

yoke_status pickle_size(const struct pickle_vm *vm, uint32_t id, const char *role, size_t *size_out)
{
    YOKE_TRY(pickle_expect(vm, id, PICKLE_INT, role));
    const int64_t number = vm->nodes[id].as.number;
    if (number < 0) {
        char what[64];
        snprintf(what, sizeof what, "%s is negative", role);
        return pickle_damaged(vm, what);
    }
    *size_out = (size_t)number;
    return YOKE_OK;
}

/* --- running --- */

static yoke_status run_stop(struct pickle_vm *vm)
{
    vm->stopped = true;
    return YOKE_OK;
}

static const pickle_function opcodes[256] = {
    [0x80] = run_proto,      ['('] = run_mark,    ['N'] = run_none,       [0x88] = run_true,
    [0x89] = run_false,      ['J'] = run_int4,    ['K'] = run_int1,       ['M'] = run_int2,
    [0x8a] = run_long1,      ['X'] = run_unicode, [']'] = run_empty_list, ['}'] = pickle_push_dict,
    [')'] = run_empty_tuple, ['t'] = run_tuple,   [0x85] = run_tuple1,    [0x86] = run_tuple2,
    [0x87] = run_tuple3,     ['q'] = run_put1,    ['r'] = run_put4,       ['h'] = run_get1,
    ['j'] = run_get4,        ['s'] = run_setitem, ['u'] = run_setitems,   ['b'] = run_build,
    ['.'] = run_stop,
};

/* NULL for an opcode that nobody knows. */
static pickle_function find_opcode(unsigned char code, const struct pickle_opcode *added,
                                   size_t n_added)
{
    for (size_t i = 0; i < n_added; i++) {
        if (added[i].code == code) {
            return added[i].run;
        }
    }
    return opcodes[code];
}

yoke_status pickle_run(struct pickle_vm *vm, const char *name, const unsigned char *bytes,
                       size_t n_bytes, const struct pickle_opcode *added, size_t n_added)
{
    vm->name = name;
    vm->bytes = bytes;
    vm->n_bytes = n_bytes;
    YOKE_TRY(MEM_NEW(vm->memo, n_bytes));
    vm->memo_size = n_bytes;
    while (!vm->stopped) {
        const unsigned char *code;
        YOKE_TRY(take(vm, 1, &code));
        const pickle_function opcode = find_opcode(*code, added, n_added);
        if (!opcode) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: byte %zu of its pickle is opcode 0x%02x, which a file of weights "
                             "does not need; nothing was run. Save the model's state_dict, or as "
                             "safetensors",
                             vm->name, vm->at - 1, *code);
        }
        YOKE_TRY(opcode(vm));
    }
    return YOKE_OK;
}

void pickle_fini(struct pickle_vm *vm)
{
    mem_free(vm->nodes);
    mem_free(vm->stack);
    mem_free(vm->items);
    mem_free(vm->entries);
    mem_free(vm->memo);
    *vm = (struct pickle_vm){0};
}
