/* The stack machine (opcodes: Python's Lib/pickletools.py; what torch makes of them:
 * torch/_utils.py, torch/serialization.py).
 *
 * Values are nodes in one growing array and refer to each other by index (uint32_t), so that
 * freeing is one call and a cycle does no harm. Bounds:
 *  1. an opcode makes at most one node, pushes at most one value and moves at most what is on the
 *     stack: memory and time are linear in the pickle's size, which is limited;
 *  2. memo numbers count upwards in every pickle that Python writes; one beyond the size is refused;
 *  3. nothing is recursive: only the outermost dictionary and the tensors in it are looked at;
 *  4. names are copied, and one string may name many tensors: their number and length are limited.
 */
#include "learn/format/torch_pickle.h"

#include <stdio.h>
#include <string.h>

#include "base/core/memory.h"

enum { MAX_PICKLE_BYTES = 64 << 20, MAX_TENSORS = 100000, MAX_NAME_BYTES = 512, PROTOCOL = 2 };

enum kind {
    KIND_MARK,
    KIND_NONE,
    KIND_BOOL,
    KIND_INT,
    KIND_STRING,
    KIND_TUPLE,
    KIND_LIST,
    KIND_DICT,
    KIND_DTYPE, /* torch.FloatStorage and its kin */
    KIND_MAKER, /* a function of the list below */
    KIND_STORAGE,
    KIND_TENSOR,
};

static const char *const kind_names[] = {
    "a mark", "None",         "a truth value",  "a number",   "a string",  "a tuple",
    "a list", "a dictionary", "a storage type", "a function", "a storage", "a tensor",
};

enum maker { MAKE_ORDERED_DICT, MAKE_TENSOR, MAKE_PARAMETER };

/* Tuples: n items from `first` on in items. Dicts: a chain of entries. */
struct node {
    enum kind kind;
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
        enum maker maker;
        struct {
            enum tensor_dtype dtype;
            uint32_t key;
            size_t n_elements;
        } storage;
        size_t tensor; /* index into tensors */
    } as;
};

struct entry {
    uint32_t key, value;
    size_t next; /* 1 + index; 0: none */
};

struct view {
    struct pickled_tensor tensor; /* name and storage_key unset */
    uint32_t key;                 /* of the storage */
};

struct vm {
    const char *name;
    const unsigned char *bytes;
    size_t n_bytes, at;
    bool stopped;
    struct node *nodes;
    size_t n_nodes, nodes_capacity;
    uint32_t *stack;
    size_t n_stack, stack_capacity;
    uint32_t *items; /* of tuples */
    size_t n_items, items_capacity;
    struct entry *entries; /* of dicts */
    size_t n_entries, entries_capacity;
    struct view *views;
    size_t n_views, views_capacity;
    uint32_t *memo; /* 1 + node; 0: unset */
    size_t memo_size;
};

static yoke_status damaged(const struct vm *vm, const char *what)
{
    return yoke_fail(YOKE_ERR_FORMAT, "%s: byte %zu of its pickle: %s", vm->name, vm->at, what);
}

static yoke_status take(struct vm *vm, size_t n, const unsigned char **bytes_out)
{
    if (n > vm->n_bytes - vm->at) {
        return damaged(vm, "the pickle is cut off");
    }
    *bytes_out = vm->bytes + vm->at;
    vm->at += n;
    return YOKE_OK;
}

/* The next n <= 8 bytes, little-endian. */
static yoke_status take_number(struct vm *vm, size_t n, uint64_t *number_out)
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

static yoke_status push(struct vm *vm, uint32_t id)
{
    YOKE_TRY(MEM_GROW(vm->stack, vm->stack_capacity, vm->n_stack + 1));
    vm->stack[vm->n_stack++] = id;
    return YOKE_OK;
}

static yoke_status push_node(struct vm *vm, struct node node)
{
    YOKE_TRY(MEM_GROW(vm->nodes, vm->nodes_capacity, vm->n_nodes + 1));
    vm->nodes[vm->n_nodes] = node;
    return push(vm, (uint32_t)vm->n_nodes++);
}

static yoke_status push_number(struct vm *vm, enum kind kind, int64_t number)
{
    return push_node(vm, (struct node){.kind = kind, .as.number = number});
}

static yoke_status pop(struct vm *vm, uint32_t *id_out)
{
    if (vm->n_stack == 0) {
        return damaged(vm, "a value is taken from an empty stack");
    }
    *id_out = vm->stack[--vm->n_stack];
    return YOKE_OK;
}

static yoke_status expect(const struct vm *vm, uint32_t id, enum kind kind, const char *role)
{
    char what[96];
    if (vm->nodes[id].kind == kind) {
        return YOKE_OK;
    }
    snprintf(what, sizeof what, "%s is %s, not %s", role, kind_names[vm->nodes[id].kind],
             kind_names[kind]);
    return damaged(vm, what);
}

static yoke_status pop_kind(struct vm *vm, enum kind kind, const char *role, uint32_t *id_out)
{
    YOKE_TRY(pop(vm, id_out));
    return expect(vm, *id_out, kind, role);
}

static yoke_status find_mark(const struct vm *vm, size_t *index_out)
{
    for (size_t i = vm->n_stack; i > 0; i--) {
        if (vm->nodes[vm->stack[i - 1]].kind == KIND_MARK) {
            *index_out = i - 1;
            return YOKE_OK;
        }
    }
    return damaged(vm, "there is no mark on the stack");
}

static bool text_is(const struct node *node, const char *text)
{
    return node->kind == KIND_STRING && node->as.string.n_bytes == strlen(text) &&
           memcmp(node->as.string.text, text, node->as.string.n_bytes) == 0;
}

/* --- opcodes that make values --- */

static yoke_status run_proto(struct vm *vm)
{
    uint64_t protocol;
    YOKE_TRY(take_number(vm, 1, &protocol));
    return protocol == PROTOCOL ? YOKE_OK : damaged(vm, "torch writes pickle protocol 2 only");
}

static yoke_status run_mark(struct vm *vm)
{
    return push_number(vm, KIND_MARK, 0);
}

static yoke_status run_none(struct vm *vm)
{
    return push_number(vm, KIND_NONE, 0);
}

static yoke_status run_true(struct vm *vm)
{
    return push_number(vm, KIND_BOOL, 1);
}

static yoke_status run_false(struct vm *vm)
{
    return push_number(vm, KIND_BOOL, 0);
}

static yoke_status run_int4(struct vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 4, &number));
    return push_number(vm, KIND_INT, (int32_t)(uint32_t)number);
}

static yoke_status run_int1(struct vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 1, &number));
    return push_number(vm, KIND_INT, (int64_t)number);
}

static yoke_status run_int2(struct vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 2, &number));
    return push_number(vm, KIND_INT, (int64_t)number);
}

static yoke_status run_long1(struct vm *vm)
{
    uint64_t n, number;
    YOKE_TRY(take_number(vm, 1, &n));
    if (n > 8) {
        return damaged(vm, "a number has more than 64 bits");
    }
    YOKE_TRY(take_number(vm, (size_t)n, &number));
    if (n > 0 && n < 8 && number >> (8 * n - 1)) { /* two's complement in n bytes */
        number |= UINT64_MAX << (8 * n);
    }
    return push_number(vm, KIND_INT, (int64_t)number);
}

static yoke_status run_unicode(struct vm *vm)
{
    uint64_t n;
    const unsigned char *text;
    YOKE_TRY(take_number(vm, 4, &n));
    YOKE_TRY(take(vm, (size_t)n, &text));
    return push_node(
        vm, (struct node){.kind = KIND_STRING, .as.string = {.text = text, .n_bytes = (size_t)n}});
}

static yoke_status run_empty_list(struct vm *vm)
{
    return push_number(vm, KIND_LIST, 0);
}

static yoke_status run_empty_dict(struct vm *vm)
{
    return push_node(vm, (struct node){.kind = KIND_DICT});
}

/* The stack's values from `first` on become a tuple. */
static yoke_status make_tuple(struct vm *vm, size_t first)
{
    const size_t n = vm->n_stack - first;
    const struct node tuple = {.kind = KIND_TUPLE, .as.tuple = {.first = vm->n_items, .n = n}};
    YOKE_TRY(MEM_GROW(vm->items, vm->items_capacity, vm->n_items + n + 1));
    memcpy(vm->items + vm->n_items, vm->stack + first, n * sizeof *vm->items);
    vm->n_items += n;
    vm->n_stack = first;
    return push_node(vm, tuple);
}

static yoke_status run_empty_tuple(struct vm *vm)
{
    YOKE_TRY(MEM_GROW(vm->stack, vm->stack_capacity, 1));
    return make_tuple(vm, vm->n_stack);
}

static yoke_status run_tuple(struct vm *vm)
{
    size_t mark;
    YOKE_TRY(find_mark(vm, &mark));
    YOKE_TRY(make_tuple(vm, mark + 1));
    vm->stack[mark] = vm->stack[mark + 1];
    vm->n_stack = mark + 1;
    return YOKE_OK;
}

static yoke_status make_short_tuple(struct vm *vm, size_t n)
{
    if (vm->n_stack < n) {
        return damaged(vm, "a tuple wants more values than there are");
    }
    return make_tuple(vm, vm->n_stack - n);
}

static yoke_status run_tuple1(struct vm *vm)
{
    return make_short_tuple(vm, 1);
}

static yoke_status run_tuple2(struct vm *vm)
{
    return make_short_tuple(vm, 2);
}

static yoke_status run_tuple3(struct vm *vm)
{
    return make_short_tuple(vm, 3);
}

/* --- the memo --- */

static yoke_status memo_put(struct vm *vm, uint64_t number)
{
    if (number >= vm->memo_size) {
        return damaged(vm, "a memo number is larger than the pickle");
    }
    if (vm->n_stack == 0) {
        return damaged(vm, "an empty stack is stored in the memo");
    }
    vm->memo[number] = vm->stack[vm->n_stack - 1] + 1;
    return YOKE_OK;
}

static yoke_status memo_get(struct vm *vm, uint64_t number)
{
    if (number >= vm->memo_size || vm->memo[number] == 0) {
        return damaged(vm, "a memo number was never stored");
    }
    return push(vm, vm->memo[number] - 1);
}

static yoke_status run_put1(struct vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 1, &number));
    return memo_put(vm, number);
}

static yoke_status run_put4(struct vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 4, &number));
    return memo_put(vm, number);
}

static yoke_status run_get1(struct vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 1, &number));
    return memo_get(vm, number);
}

static yoke_status run_get4(struct vm *vm)
{
    uint64_t number;
    YOKE_TRY(take_number(vm, 4, &number));
    return memo_get(vm, number);
}

/* --- dictionaries --- */

static yoke_status dict_add(struct vm *vm, uint32_t dict, uint32_t key, uint32_t value)
{
    YOKE_TRY(MEM_GROW(vm->entries, vm->entries_capacity, vm->n_entries + 1));
    vm->entries[vm->n_entries++] = (struct entry){.key = key, .value = value};
    struct node *node = &vm->nodes[dict];
    if (node->as.dict.last_entry > 0) {
        vm->entries[node->as.dict.last_entry - 1].next = vm->n_entries;
    } else {
        node->as.dict.first_entry = vm->n_entries;
    }
    node->as.dict.last_entry = vm->n_entries;
    node->as.dict.n++;
    return YOKE_OK;
}

static yoke_status run_setitem(struct vm *vm)
{
    uint32_t value, key;
    YOKE_TRY(pop(vm, &value));
    YOKE_TRY(pop(vm, &key));
    if (vm->n_stack == 0) {
        return damaged(vm, "an item is set in an empty stack");
    }
    const uint32_t dict = vm->stack[vm->n_stack - 1];
    YOKE_TRY(expect(vm, dict, KIND_DICT, "what an item is set in"));
    return dict_add(vm, dict, key, value);
}

static yoke_status run_setitems(struct vm *vm)
{
    size_t mark;
    YOKE_TRY(find_mark(vm, &mark));
    if (mark == 0 || (vm->n_stack - mark) % 2 == 0) {
        return damaged(vm, "items are set without a dictionary or without a value");
    }
    const uint32_t dict = vm->stack[mark - 1];
    YOKE_TRY(expect(vm, dict, KIND_DICT, "what items are set in"));
    for (size_t i = mark + 1; i < vm->n_stack; i += 2) {
        YOKE_TRY(dict_add(vm, dict, vm->stack[i], vm->stack[i + 1]));
    }
    vm->n_stack = mark;
    return YOKE_OK;
}

/* BUILD gives an object its attributes; a state dict's one, "_metadata", means nothing here. */
static yoke_status run_build(struct vm *vm)
{
    uint32_t state;
    YOKE_TRY(pop_kind(vm, KIND_DICT, "the state of an object", &state));
    if (vm->n_stack == 0) {
        return damaged(vm, "a state is given to an empty stack");
    }
    return expect(vm, vm->stack[vm->n_stack - 1], KIND_DICT, "what is given a state");
}

/* --- names, storages, tensors --- */

static const struct {
    const char *module, *name;
    enum kind kind;
    int value; /* a tensor_dtype or a maker */
} globals[] = {
    {"collections", "OrderedDict", KIND_MAKER, MAKE_ORDERED_DICT},
    {"torch._utils", "_rebuild_tensor_v2", KIND_MAKER, MAKE_TENSOR},
    {"torch._utils", "_rebuild_parameter", KIND_MAKER, MAKE_PARAMETER},
    {"torch", "FloatStorage", KIND_DTYPE, TENSOR_F32},
    {"torch", "DoubleStorage", KIND_DTYPE, TENSOR_F64},
    {"torch", "HalfStorage", KIND_DTYPE, TENSOR_F16},
    {"torch", "BFloat16Storage", KIND_DTYPE, TENSOR_BF16},
    {"torch", "LongStorage", KIND_DTYPE, TENSOR_I64},
    {"torch", "IntStorage", KIND_DTYPE, TENSOR_I32},
    {"torch", "ShortStorage", KIND_DTYPE, TENSOR_I16},
    {"torch", "CharStorage", KIND_DTYPE, TENSOR_I8},
    {"torch", "ByteStorage", KIND_DTYPE, TENSOR_U8},
    {"torch", "BoolStorage", KIND_DTYPE, TENSOR_BOOL},
};

static yoke_status take_line(struct vm *vm, const char **text_out, int *n_out)
{
    const unsigned char *start = vm->bytes + vm->at;
    const unsigned char *end = memchr(start, '\n', vm->n_bytes - vm->at);
    if (!end || end - start > 1000) {
        return damaged(vm, "a name has no end");
    }
    *text_out = (const char *)start;
    *n_out = (int)(end - start);
    vm->at += (size_t)*n_out + 1;
    return YOKE_OK;
}

static bool line_is(const char *line, int n, const char *text)
{
    return strlen(text) == (size_t)n && memcmp(line, text, (size_t)n) == 0;
}

static yoke_status run_global(struct vm *vm)
{
    const char *module, *name;
    int n_module, n_name;
    YOKE_TRY(take_line(vm, &module, &n_module));
    YOKE_TRY(take_line(vm, &name, &n_name));
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
        if (line_is(module, n_module, globals[i].module) &&
            line_is(name, n_name, globals[i].name)) {
            struct node node = {.kind = globals[i].kind};
            if (node.kind == KIND_DTYPE) {
                node.as.dtype = (enum tensor_dtype)globals[i].value;
            } else {
                node.as.maker = (enum maker)globals[i].value;
            }
            return push_node(vm, node);
        }
    }
    return yoke_fail(
        YOKE_ERR_FORMAT,
        "%s asks for %.*s.%.*s, which a file of weights does not need; it was not run. "
        "Save the model's state_dict, or as safetensors",
        vm->name, n_module < 100 ? n_module : 100, module, n_name < 100 ? n_name : 100, name);
}

/* The items of a tuple with at least n of them. */
static yoke_status tuple_items(const struct vm *vm, uint32_t id, size_t n, const char *role,
                               const uint32_t **items_out)
{
    YOKE_TRY(expect(vm, id, KIND_TUPLE, role));
    if (vm->nodes[id].as.tuple.n < n) {
        return damaged(vm, "a tuple has too few items");
    }
    *items_out = vm->items + vm->nodes[id].as.tuple.first;
    return YOKE_OK;
}

static yoke_status size_of(const struct vm *vm, uint32_t id, const char *role, size_t *size_out)
{
    YOKE_TRY(expect(vm, id, KIND_INT, role));
    const int64_t number = vm->nodes[id].as.number;
    if (number < 0) {
        char what[64];
        snprintf(what, sizeof what, "%s is negative", role);
        return damaged(vm, what);
    }
    *size_out = (size_t)number;
    return YOKE_OK;
}

/* ("storage", TYPE, KEY, LOCATION, ELEMENTS) */
static yoke_status run_persistent_id(struct vm *vm)
{
    enum { TAG, TYPE, KEY, LOCATION, ELEMENTS, N };
    uint32_t id;
    const uint32_t *items;
    YOKE_TRY(pop(vm, &id));
    YOKE_TRY(tuple_items(vm, id, N, "a persistent id", &items));
    if (!text_is(&vm->nodes[items[TAG]], "storage")) {
        return damaged(vm, "a persistent id is not that of a storage");
    }
    YOKE_TRY(expect(vm, items[TYPE], KIND_DTYPE, "the type of a storage"));
    YOKE_TRY(expect(vm, items[KEY], KIND_STRING, "the key of a storage"));
    struct node node = {.kind = KIND_STORAGE};
    node.as.storage.dtype = vm->nodes[items[TYPE]].as.dtype;
    node.as.storage.key = items[KEY];
    YOKE_TRY(size_of(vm, items[ELEMENTS], "the size of a storage", &node.as.storage.n_elements));
    return push_node(vm, node);
}

/* Elements from the first to behind the last of a strided view; false on overflow. */
static bool view_span(const struct pickled_tensor *tensor, size_t *span_out)
{
    size_t last = 0;
    for (size_t i = 0; i < tensor->info.n_dims; i++) {
        size_t reach;
        if (__builtin_mul_overflow(tensor->info.shape[i] - 1, tensor->strides[i], &reach) ||
            __builtin_add_overflow(last, reach, &last)) {
            return false;
        }
    }
    return !__builtin_add_overflow(last, 1, span_out);
}

static yoke_status read_geometry(const struct vm *vm, uint32_t size, uint32_t stride,
                                 struct pickled_tensor *tensor)
{
    const uint32_t *sizes, *strides;
    YOKE_TRY(tuple_items(vm, size, 0, "the shape of a tensor", &sizes));
    YOKE_TRY(tuple_items(vm, stride, 0, "the strides of a tensor", &strides));
    const size_t n_dims = vm->nodes[size].as.tuple.n;
    if (n_dims > TENSOR_MAX_DIMS || vm->nodes[stride].as.tuple.n != n_dims) {
        return damaged(vm, "a tensor has too many dimensions, or not a stride for each");
    }
    tensor->info.n_dims = n_dims;
    for (size_t i = 0; i < n_dims; i++) {
        YOKE_TRY(size_of(vm, sizes[i], "a dimension", &tensor->info.shape[i]));
        YOKE_TRY(size_of(vm, strides[i], "a stride", &tensor->strides[i]));
    }
    if (!tensor_count(tensor->info.shape, n_dims, &tensor->info.n_elements)) {
        return damaged(vm, "the shape of a tensor is too large");
    }
    return YOKE_OK;
}

/* _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, backward_hooks, ...) */
static yoke_status make_tensor(struct vm *vm, uint32_t arguments)
{
    enum { STORAGE, OFFSET, SIZE, STRIDE, N };
    const uint32_t *items;
    struct view view = {0};
    struct pickled_tensor *tensor = &view.tensor;
    YOKE_TRY(tuple_items(vm, arguments, N, "the arguments of _rebuild_tensor_v2", &items));
    YOKE_TRY(expect(vm, items[STORAGE], KIND_STORAGE, "what a tensor is made of"));
    const struct node *storage = &vm->nodes[items[STORAGE]];
    view.key = storage->as.storage.key;
    tensor->info.dtype = storage->as.storage.dtype;
    tensor->storage_elements = storage->as.storage.n_elements;
    YOKE_TRY(size_of(vm, items[OFFSET], "the offset of a tensor", &tensor->offset));
    YOKE_TRY(read_geometry(vm, items[SIZE], items[STRIDE], tensor));
    if (tensor->info.n_elements > 0 &&
        (!view_span(tensor, &tensor->span) || tensor->offset > tensor->storage_elements ||
         tensor->span > tensor->storage_elements - tensor->offset)) {
        return damaged(vm, "a tensor reaches beyond its storage");
    }
    YOKE_TRY(MEM_GROW(vm->views, vm->views_capacity, vm->n_views + 1));
    vm->views[vm->n_views] = view;
    return push_node(vm, (struct node){.kind = KIND_TENSOR, .as.tensor = vm->n_views++});
}

static yoke_status run_reduce(struct vm *vm)
{
    uint32_t arguments, function;
    const uint32_t *items;
    YOKE_TRY(pop_kind(vm, KIND_TUPLE, "the arguments of a function", &arguments));
    YOKE_TRY(pop_kind(vm, KIND_MAKER, "what is called", &function));
    switch (vm->nodes[function].as.maker) {
    case MAKE_ORDERED_DICT:
        if (vm->nodes[arguments].as.tuple.n != 0) {
            return damaged(vm, "an OrderedDict is made with arguments");
        }
        return run_empty_dict(vm);
    case MAKE_TENSOR:
        return make_tensor(vm, arguments);
    case MAKE_PARAMETER: /* (tensor, requires_grad, backward_hooks) is its tensor to us */
        YOKE_TRY(tuple_items(vm, arguments, 1, "the arguments of _rebuild_parameter", &items));
        YOKE_TRY(expect(vm, items[0], KIND_TENSOR, "what a parameter is made of"));
        return push(vm, items[0]);
    }
    return damaged(vm, "an unknown function is called");
}

static yoke_status run_stop(struct vm *vm)
{
    vm->stopped = true;
    return YOKE_OK;
}

static yoke_status (*const opcodes[256])(struct vm *vm) = {
    [0x80] = run_proto,      ['('] = run_mark,          ['N'] = run_none,
    [0x88] = run_true,       [0x89] = run_false,        ['J'] = run_int4,
    ['K'] = run_int1,        ['M'] = run_int2,          [0x8a] = run_long1,
    ['X'] = run_unicode,     [']'] = run_empty_list,    ['}'] = run_empty_dict,
    [')'] = run_empty_tuple, ['t'] = run_tuple,         [0x85] = run_tuple1,
    [0x86] = run_tuple2,     [0x87] = run_tuple3,       ['q'] = run_put1,
    ['r'] = run_put4,        ['h'] = run_get1,          ['j'] = run_get4,
    ['s'] = run_setitem,     ['u'] = run_setitems,      ['b'] = run_build,
    ['c'] = run_global,      ['Q'] = run_persistent_id, ['R'] = run_reduce,
    ['.'] = run_stop,
};

static yoke_status run(struct vm *vm)
{
    while (!vm->stopped) {
        const unsigned char *opcode;
        YOKE_TRY(take(vm, 1, &opcode));
        if (!opcodes[*opcode]) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: byte %zu of its pickle is opcode 0x%02x, which a file of weights "
                             "does not need; nothing was run. Save the model's state_dict, or as "
                             "safetensors",
                             vm->name, vm->at - 1, *opcode);
        }
        YOKE_TRY(opcodes[*opcode](vm));
    }
    return YOKE_OK;
}

/* --- the result --- */

static yoke_status copy_string(const struct vm *vm, uint32_t id, const char *role, char **copy_out)
{
    YOKE_TRY(expect(vm, id, KIND_STRING, role));
    const struct node *node = &vm->nodes[id];
    if (node->as.string.n_bytes > MAX_NAME_BYTES ||
        memchr(node->as.string.text, '\0', node->as.string.n_bytes)) {
        return damaged(vm, "a name is too long or contains a NUL");
    }
    *copy_out = mem_strndup((const char *)node->as.string.text, node->as.string.n_bytes);
    return *copy_out ? YOKE_OK : YOKE_ERR_NO_MEMORY;
}

static yoke_status export_tensor(const struct vm *vm, const struct entry *entry,
                                 struct pickled_tensors *out)
{
    struct pickled_tensor *tensor = &out->table[out->n_tensors];
    YOKE_TRY(expect(vm, entry->value, KIND_TENSOR, "an entry of the outermost dictionary"));
    const struct view *view = &vm->views[vm->nodes[entry->value].as.tensor];
    *tensor = view->tensor;
    out->n_tensors++; /* from here on fini frees what is set */
    char *name;
    YOKE_TRY(copy_string(vm, entry->key, "the name of a tensor", &name));
    tensor->info.name = name;
    return copy_string(vm, view->key, "the key of a storage", &tensor->storage_key);
}

static yoke_status export_tensors(struct vm *vm, struct pickled_tensors *out)
{
    uint32_t top;
    YOKE_TRY(pop_kind(vm, KIND_DICT, "the outermost value", &top));
    const struct node *dict = &vm->nodes[top];
    if (dict->as.dict.n > MAX_TENSORS) {
        return damaged(vm, "the outermost dictionary has more than 100,000 entries");
    }
    YOKE_TRY(MEM_NEW(out->table, dict->as.dict.n));
    for (size_t at = dict->as.dict.first_entry; at > 0; at = vm->entries[at - 1].next) {
        YOKE_TRY(export_tensor(vm, &vm->entries[at - 1], out));
    }
    return YOKE_OK;
}

yoke_status torch_pickle_read(const unsigned char *bytes, size_t n_bytes, const char *name,
                              struct pickled_tensors *tensors_out)
{
    if (n_bytes > MAX_PICKLE_BYTES) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: its pickle has %zu bytes, the limit is %d", name,
                         n_bytes, MAX_PICKLE_BYTES);
    }
    struct vm vm = {.name = name, .bytes = bytes, .n_bytes = n_bytes, .memo_size = n_bytes};
    struct pickled_tensors tensors = {0};
    yoke_status status;
    YOKE_TRY_GOTO(MEM_NEW(vm.memo, n_bytes));
    YOKE_TRY_GOTO(run(&vm));
    YOKE_TRY_GOTO(export_tensors(&vm, &tensors));
    *tensors_out = tensors;
    tensors = (struct pickled_tensors){0};
done:
    pickled_tensors_fini(&tensors);
    mem_free(vm.nodes);
    mem_free(vm.stack);
    mem_free(vm.items);
    mem_free(vm.entries);
    mem_free(vm.views);
    mem_free(vm.memo);
    return status;
}

void pickled_tensors_fini(struct pickled_tensors *tensors)
{
    for (size_t i = 0; i < tensors->n_tensors; i++) {
        mem_free((char *)(uintptr_t)tensors->table[i].info.name);
        mem_free(tensors->table[i].storage_key);
    }
    mem_free(tensors->table);
    *tensors = (struct pickled_tensors){0};
}
