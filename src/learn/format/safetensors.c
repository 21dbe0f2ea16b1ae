/* The reader trusts no number of the header: each is checked against the file before it is used as
 * a size or an offset. Invariants of an opened file:
 *  1. the tensors, in the order of their bytes, claim [0, data size) without gap or overlap;
 *  2. a tensor's span is n_elements times the size of its type, and n_elements is the product of
 *     its shape.
 * The writer streams: it needs the sizes first, then each tensor's bytes once. */
#include "learn/format/safetensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "learn/format/json.h"

/* The reference refuses longer headers too. */
enum { MAX_HEADER_BYTES = 100 * 1000 * 1000, LENGTH_BYTES = 8, DATA_ALIGNMENT = 8 };

struct span {
    struct tensor_info info;
    size_t begin, end; /* in the data behind the header */
};

struct safetensors {
    struct file_map map; /* zero when the memory is borrowed */
    const unsigned char *data;
    size_t data_bytes;
    json_t *header; /* owns the names */
    struct span *spans;
    size_t n_spans;
};

static yoke_status read_size(const json_t *value, size_t *size_out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return YOKE_ERR_FORMAT;
    }
    *size_out = (size_t)json_integer_value(value);
    return YOKE_OK;
}

static yoke_status read_shape(const char *path, const json_t *shape, struct tensor_info *info)
{
    const size_t n_dims = json_array_size(shape);
    if (!json_is_array(shape) || n_dims > TENSOR_MAX_DIMS) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: tensor %.100s: the shape must be a list of at most %d", path,
                         info->name, TENSOR_MAX_DIMS);
    }
    info->n_dims = n_dims;
    for (size_t i = 0; i < n_dims; i++) {
        if (read_size(json_array_get(shape, i), &info->shape[i]) < 0) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: tensor %.100s: dimension %zu is no whole number from 0 up", path,
                             info->name, i);
        }
    }
    if (!tensor_count(info->shape, n_dims, &info->n_elements)) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: tensor %.100s: the shape is too large", path,
                         info->name);
    }
    return YOKE_OK;
}

static yoke_status read_span(const char *path, const char *name, const json_t *entry,
                             size_t data_bytes, struct span *span)
{
    struct tensor_info *info = &span->info;
    info->name = name;
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: tensor %.100s has no dtype", path, name);
    }
    if (!tensor_dtype_from_name(dtype, &info->dtype)) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: tensor %.100s: dtype %.20s is not supported; convert it to F32", path,
                         name, dtype);
    }
    YOKE_TRY(read_shape(path, json_object_get(entry, "shape"), info));
    const json_t *offsets = json_object_get(entry, "data_offsets");
    if (json_array_size(offsets) != 2 || read_size(json_array_get(offsets, 0), &span->begin) < 0 ||
        read_size(json_array_get(offsets, 1), &span->end) < 0 || span->begin > span->end) {
        return yoke_fail(
            YOKE_ERR_FORMAT,
            "%s: tensor %.100s: data_offsets must be [begin, end] with 0 <= begin <= end", path,
            name);
    }
    if (span->end > data_bytes) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: tensor %.100s ends at byte %zu but the data has %zu; the file is cut "
                         "off or damaged",
                         path, name, span->end, data_bytes);
    }
    const size_t need = info->n_elements * tensor_dtype_bytes(info->dtype);
    if (span->end - span->begin != need) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: tensor %.100s takes %zu bytes but its shape and dtype need %zu", path,
                         name, span->end - span->begin, need);
    }
    return YOKE_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a;
    const struct span *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return x->end < y->end ? -1 : x->end > y->end; /* empty tensors before what begins with them */
}

static yoke_status check_cover(const char *path, const struct safetensors *file)
{
    size_t at = 0;
    for (size_t i = 0; i < file->n_spans; i++) {
        const struct span *span = &file->spans[i];
        if (span->begin != at) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: tensor %.100s begins at byte %zu where %zu was due: tensors "
                             "overlap or leave a gap",
                             path, span->info.name, span->begin, at);
        }
        at = span->end;
    }
    if (at != file->data_bytes) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: the tensors take %zu bytes but the data has %zu",
                         path, at, file->data_bytes);
    }
    return YOKE_OK;
}

static yoke_status read_spans(const char *path, struct safetensors *file)
{
    if (!json_is_object(file->header)) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: the header is no JSON object", path);
    }
    YOKE_TRY(MEM_NEW(file->spans, json_object_size(file->header)));
    for (void *at = json_object_iter(file->header); at;
         at = json_object_iter_next(file->header, at)) {
        const char *name = json_object_iter_key(at);
        if (strcmp(name, "__metadata__") != 0) {
            struct span *span = &file->spans[file->n_spans++];
            YOKE_TRY(read_span(path, name, json_object_iter_value(at), file->data_bytes, span));
        }
    }
    qsort(file->spans, file->n_spans, sizeof *file->spans, by_begin);
    return check_cover(path, file);
}

static uint64_t read_length(const unsigned char *bytes)
{
    uint64_t length = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) {
        length = length << 8 | bytes[i];
    }
    return length;
}

static yoke_status parse(const char *path, const unsigned char *bytes, size_t n_bytes,
                         struct safetensors *file)
{
    const uint64_t length = n_bytes >= LENGTH_BYTES ? read_length(bytes) : 0;
    if (n_bytes < LENGTH_BYTES || length > n_bytes - LENGTH_BYTES || length > MAX_HEADER_BYTES) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s is no safetensors file, or is cut off: a header of %" PRIu64
                         " bytes does not fit its %zu bytes",
                         path, length, n_bytes);
    }
    char name[512];
    snprintf(name, sizeof name, "the header of %s", path);
    YOKE_TRY(
        json_read_text((const char *)bytes + LENGTH_BYTES, (size_t)length, name, &file->header));
    file->data = bytes + LENGTH_BYTES + length;
    file->data_bytes = n_bytes - LENGTH_BYTES - (size_t)length;
    return read_spans(path, file);
}

yoke_status safetensors_open_memory(const void *data, size_t n_bytes, const char *name,
                                    struct safetensors **file_out)
{
    struct safetensors *file;
    YOKE_TRY(MEM_NEW(file, 1));
    const yoke_status status = parse(name, data, n_bytes, file);
    if (status < 0) {
        safetensors_close(file);
        return status;
    }
    *file_out = file;
    return YOKE_OK;
}

yoke_status safetensors_open(const char *path, struct safetensors **file_out)
{
    struct file_map map;
    YOKE_TRY(file_map_open(path, &map));
    struct safetensors *file;
    const yoke_status status = safetensors_open_memory(map.data, map.size_bytes, path, &file);
    if (status < 0) {
        file_map_close(&map);
        return status;
    }
    file->map = map;
    *file_out = file;
    return YOKE_OK;
}

void safetensors_close(struct safetensors *file)
{
    if (file) {
        json_decref(file->header);
        mem_free(file->spans);
        file_map_close(&file->map);
        mem_free(file);
    }
}

size_t safetensors_count(const struct safetensors *file)
{
    return file->n_spans;
}

const struct tensor_info *safetensors_get(const struct safetensors *file, size_t index)
{
    return &file->spans[index].info;
}

size_t safetensors_find(const struct safetensors *file, const char *name)
{
    for (size_t i = 0; i < file->n_spans; i++) {
        if (strcmp(file->spans[i].info.name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

const void *safetensors_data(const struct safetensors *file, size_t index)
{
    return file->data + file->spans[index].begin;
}

struct tensor_info safetensors_info(const char *name, enum tensor_dtype dtype, size_t dim0,
                                    size_t dim1)
{
    return (struct tensor_info){.name = name,
                                .dtype = dtype,
                                .n_dims = dim1 > 0 ? 2 : 1,
                                .shape = {dim0, dim1},
                                .n_elements = dim1 > 0 ? dim0 * dim1 : dim0};
}

static yoke_status print_item(struct str *header, const struct tensor_info *info, size_t *at)
{
    const size_t end = *at + info->n_elements * tensor_dtype_bytes(info->dtype);
    YOKE_TRY(str_append(header, ",", 1));
    YOKE_TRY(json_append_string(header, info->name));
    YOKE_TRY(str_printf(header, ":{\"dtype\":\"%s\",\"shape\":", tensor_dtype_name(info->dtype)));
    YOKE_TRY(tensor_print_shape(header, info->shape, info->n_dims));
    YOKE_TRY(str_printf(header, ",\"data_offsets\":[%zu,%zu]}", *at, end));
    *at = end;
    return YOKE_OK;
}

static yoke_status print_header(struct str *header, const struct safetensors_item *items,
                                size_t n_items)
{
    YOKE_TRY(str_append_text(header, "{\"__metadata__\":{\"format\":\"pt\"}"));
    size_t at = 0;
    for (size_t i = 0; i < n_items; i++) {
        YOKE_TRY(print_item(header, &items[i].info, &at));
    }
    YOKE_TRY(str_append(header, "}", 1));
    while (header->len % DATA_ALIGNMENT != 0) {
        YOKE_TRY(str_append(header, " ", 1));
    }
    return YOKE_OK;
}

yoke_status safetensors_write(const char *path, const struct safetensors_item *items,
                              size_t n_items)
{
    struct str header = {0};
    struct file_writer writer = {.fd = -1};
    yoke_status status;
    YOKE_TRY_GOTO(print_header(&header, items, n_items));
    unsigned char length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++) {
        length[i] = (unsigned char)(header.len >> (8 * i));
    }
    YOKE_TRY_GOTO(file_writer_open(&writer, path));
    YOKE_TRY_GOTO(file_writer_write(&writer, length, sizeof length));
    YOKE_TRY_GOTO(file_writer_write(&writer, header.text, header.len));
    for (size_t i = 0; i < n_items; i++) {
        const struct tensor_info *info = &items[i].info;
        YOKE_TRY_GOTO(file_writer_write(&writer, items[i].data,
                                        info->n_elements * tensor_dtype_bytes(info->dtype)));
    }
    YOKE_TRY_GOTO(file_writer_commit(&writer));
done:
    file_writer_abort(&writer);
    str_fini(&header);
    return status;
}
