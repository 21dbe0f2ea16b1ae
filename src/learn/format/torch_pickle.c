/* The names, calls and persistent objects of a state dict (torch/_utils.py,
 * torch/serialization.py).
 *
 * A call makes a value of the machine: a dictionary, or a view of a storage whose geometry is
 * checked on the spot. Only the outermost dictionary and the tensors in it are looked at in the
 * end. Names are copied, and one string may name many tensors: their number and length are limited.
 */
#include "learn/format/torch_pickle.h"

#include <string.h>

#include "base/core/memory.h"
#include "learn/format/pickle_machine.h"

enum { MAX_PICKLE_BYTES = 64 << 20, MAX_TENSORS = 100000, MAX_NAME_BYTES = 512 };

enum maker { MAKE_ORDERED_DICT, MAKE_TENSOR, MAKE_PARAMETER };

struct view {
    struct pickled_tensor tensor; /* name and storage_key unset */
    uint32_t key;                 /* of the storage */
};

/* The context of the machine. */
struct views {
    struct view *table;
    size_t n, capacity;
};

static bool text_is(const struct pickle_node *node, const char *text)
{
    return node->kind == PICKLE_STRING && node->as.string.n_bytes == strlen(text) &&
           memcmp(node->as.string.text, text, node->as.string.n_bytes) == 0;
}

static const struct {
    const char *module, *name;
    enum pickle_kind kind;
    int value; /* a tensor_dtype or a maker */
} globals[] = {
    {"collections", "OrderedDict", PICKLE_MAKER, MAKE_ORDERED_DICT},
    {"torch._utils", "_rebuild_tensor_v2", PICKLE_MAKER, MAKE_TENSOR},
    {"torch._utils", "_rebuild_parameter", PICKLE_MAKER, MAKE_PARAMETER},
    {"torch", "FloatStorage", PICKLE_DTYPE, TENSOR_F32},
    {"torch", "DoubleStorage", PICKLE_DTYPE, TENSOR_F64},
    {"torch", "HalfStorage", PICKLE_DTYPE, TENSOR_F16},
    {"torch", "BFloat16Storage", PICKLE_DTYPE, TENSOR_BF16},
    {"torch", "LongStorage", PICKLE_DTYPE, TENSOR_I64},
    {"torch", "IntStorage", PICKLE_DTYPE, TENSOR_I32},
    {"torch", "ShortStorage", PICKLE_DTYPE, TENSOR_I16},
    {"torch", "CharStorage", PICKLE_DTYPE, TENSOR_I8},
    {"torch", "ByteStorage", PICKLE_DTYPE, TENSOR_U8},
    {"torch", "BoolStorage", PICKLE_DTYPE, TENSOR_BOOL},
};

static bool line_is(const char *line, int n, const char *text)
{
    return strlen(text) == (size_t)n && memcmp(line, text, (size_t)n) == 0;
}

static yoke_status run_global(struct pickle_vm *vm)
{
    const char *module, *name;
    int n_module, n_name;
    YOKE_TRY(pickle_take_line(vm, &module, &n_module));
    YOKE_TRY(pickle_take_line(vm, &name, &n_name));
    for (size_t i = 0; i < sizeof globals / sizeof *globals; i++) {
        if (line_is(module, n_module, globals[i].module) &&
            line_is(name, n_name, globals[i].name)) {
            struct pickle_node node = {.kind = globals[i].kind};
            if (node.kind == PICKLE_DTYPE) {
                node.as.dtype = (enum tensor_dtype)globals[i].value;
            } else {
                node.as.maker = globals[i].value;
            }
            return pickle_push_node(vm, node);
        }
    }
    return yoke_fail(
        YOKE_ERR_FORMAT,
        "%s asks for %.*s.%.*s, which a file of weights does not need; it was not run. "
        "Save the model's state_dict, or as safetensors",
        vm->name, n_module < 100 ? n_module : 100, module, n_name < 100 ? n_name : 100, name);
}

/* ("storage", TYPE, KEY, LOCATION, ELEMENTS) */
static yoke_status run_persistent_id(struct pickle_vm *vm)
{
    enum { TAG, TYPE, KEY, LOCATION, ELEMENTS, N };
    uint32_t id;
    const uint32_t *items;
    YOKE_TRY(pickle_pop(vm, &id));
    YOKE_TRY(pickle_tuple_items(vm, id, N, "a persistent id", &items));
    if (!text_is(&vm->nodes[items[TAG]], "storage")) {
        return pickle_damaged(vm, "a persistent id is not that of a storage");
    }
    YOKE_TRY(pickle_expect(vm, items[TYPE], PICKLE_DTYPE, "the type of a storage"));
    YOKE_TRY(pickle_expect(vm, items[KEY], PICKLE_STRING, "the key of a storage"));
    struct pickle_node node = {.kind = PICKLE_STORAGE};
    node.as.storage.dtype = vm->nodes[items[TYPE]].as.dtype;
    node.as.storage.key = items[KEY];
    YOKE_TRY(
        pickle_size(vm, items[ELEMENTS], "the size of a storage", &node.as.storage.n_elements));
    return pickle_push_node(vm, node);
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

static yoke_status read_geometry(const struct pickle_vm *vm, uint32_t size, uint32_t stride,
                                 struct pickled_tensor *tensor)
{
    const uint32_t *sizes, *strides;
    YOKE_TRY(pickle_tuple_items(vm, size, 0, "the shape of a tensor", &sizes));
    YOKE_TRY(pickle_tuple_items(vm, stride, 0, "the strides of a tensor", &strides));
    const size_t n_dims = vm->nodes[size].as.tuple.n;
    if (n_dims > TENSOR_MAX_DIMS || vm->nodes[stride].as.tuple.n != n_dims) {
        return pickle_damaged(vm, "a tensor has too many dimensions, or not a stride for each");
    }
    tensor->info.n_dims = n_dims;
    for (size_t i = 0; i < n_dims; i++) {
        YOKE_TRY(pickle_size(vm, sizes[i], "a dimension", &tensor->info.shape[i]));
        YOKE_TRY(pickle_size(vm, strides[i], "a stride", &tensor->strides[i]));
    }
    if (!tensor_count(tensor->info.shape, n_dims, &tensor->info.n_elements)) {
        return pickle_damaged(vm, "the shape of a tensor is too large");
    }
    return YOKE_OK;
}

/* _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, backward_hooks, ...) */
static yoke_status make_tensor(struct pickle_vm *vm, uint32_t arguments)
{
    enum { STORAGE, OFFSET, SIZE, STRIDE, N };
    const uint32_t *items;
    struct view view = {0};
    struct pickled_tensor *tensor = &view.tensor;
    YOKE_TRY(pickle_tuple_items(vm, arguments, N, "the arguments of _rebuild_tensor_v2", &items));
    YOKE_TRY(pickle_expect(vm, items[STORAGE], PICKLE_STORAGE, "what a tensor is made of"));
    const struct pickle_node *storage = &vm->nodes[items[STORAGE]];
    view.key = storage->as.storage.key;
    tensor->info.dtype = storage->as.storage.dtype;
    tensor->storage_elements = storage->as.storage.n_elements;
    YOKE_TRY(pickle_size(vm, items[OFFSET], "the offset of a tensor", &tensor->offset));
    YOKE_TRY(read_geometry(vm, items[SIZE], items[STRIDE], tensor));
    if (tensor->info.n_elements > 0 &&
        (!view_span(tensor, &tensor->span) || tensor->offset > tensor->storage_elements ||
         tensor->span > tensor->storage_elements - tensor->offset)) {
        return pickle_damaged(vm, "a tensor reaches beyond its storage");
    }
    struct views *views = vm->context;
    YOKE_TRY(MEM_GROW(views->table, views->capacity, views->n + 1));
    views->table[views->n] = view;
    return pickle_push_node(vm,
                            (struct pickle_node){.kind = PICKLE_TENSOR, .as.tensor = views->n++});
}

static yoke_status run_reduce(struct pickle_vm *vm)
{
    uint32_t arguments, function;
    const uint32_t *items;
    YOKE_TRY(pickle_pop_kind(vm, PICKLE_TUPLE, "the arguments of a function", &arguments));
    YOKE_TRY(pickle_pop_kind(vm, PICKLE_MAKER, "what is called", &function));
    switch ((enum maker)vm->nodes[function].as.maker) {
    case MAKE_ORDERED_DICT:
        if (vm->nodes[arguments].as.tuple.n != 0) {
            return pickle_damaged(vm, "an OrderedDict is made with arguments");
        }
        return pickle_push_dict(vm);
    case MAKE_TENSOR:
        return make_tensor(vm, arguments);
    case MAKE_PARAMETER: /* (tensor, requires_grad, backward_hooks) is its tensor to us */
        YOKE_TRY(
            pickle_tuple_items(vm, arguments, 1, "the arguments of _rebuild_parameter", &items));
        YOKE_TRY(pickle_expect(vm, items[0], PICKLE_TENSOR, "what a parameter is made of"));
        return pickle_push(vm, items[0]);
    }
    return pickle_damaged(vm, "an unknown function is called");
}

static yoke_status copy_string(const struct pickle_vm *vm, uint32_t id, const char *role,
                               char **copy_out)
{
    YOKE_TRY(pickle_expect(vm, id, PICKLE_STRING, role));
    const struct pickle_node *node = &vm->nodes[id];
    if (node->as.string.n_bytes > MAX_NAME_BYTES ||
        memchr(node->as.string.text, '\0', node->as.string.n_bytes)) {
        return pickle_damaged(vm, "a name is too long or contains a NUL");
    }
    *copy_out = mem_strndup((const char *)node->as.string.text, node->as.string.n_bytes);
    return *copy_out ? YOKE_OK : YOKE_ERR_NO_MEMORY;
}

static yoke_status export_tensor(const struct pickle_vm *vm, const struct pickle_entry *entry,
                                 struct pickled_tensors *out)
{
    struct pickled_tensor *tensor = &out->table[out->n_tensors];
    YOKE_TRY(
        pickle_expect(vm, entry->value, PICKLE_TENSOR, "an entry of the outermost dictionary"));
    const struct view *view =
        &((const struct views *)vm->context)->table[vm->nodes[entry->value].as.tensor];
    *tensor = view->tensor;
    out->n_tensors++; /* from here on fini frees what is set */
    char *name;
    YOKE_TRY(copy_string(vm, entry->key, "the name of a tensor", &name));
    tensor->info.name = name;
    return copy_string(vm, view->key, "the key of a storage", &tensor->storage_key);
}

static yoke_status export_tensors(struct pickle_vm *vm, struct pickled_tensors *out)
{
    uint32_t top;
    YOKE_TRY(pickle_pop_kind(vm, PICKLE_DICT, "the outermost value", &top));
    const struct pickle_node *dict = &vm->nodes[top];
    if (dict->as.dict.n > MAX_TENSORS) {
        return pickle_damaged(vm, "the outermost dictionary has more than 100,000 entries");
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
    static const struct pickle_opcode added[] = {
        {'c', run_global}, {'Q', run_persistent_id}, {'R', run_reduce}};
    struct views views = {0};
    struct pickle_vm vm = {.context = &views};
    struct pickled_tensors tensors = {0};
    yoke_status status;
    YOKE_TRY_GOTO(pickle_run(&vm, name, bytes, n_bytes, added, sizeof added / sizeof *added));
    YOKE_TRY_GOTO(export_tensors(&vm, &tensors));
    *tensors_out = tensors;
    tensors = (struct pickled_tensors){0};
done:
    pickled_tensors_fini(&tensors);
    pickle_fini(&vm);
    mem_free(views.table);
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
