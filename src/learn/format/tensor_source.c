/* One table of tensors over one or several files; a file is an object with five functions, whose
 * rows stand in `formats`. */
#include "learn/format/tensor_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "learn/format/json.h"
#include "learn/format/safetensors.h"
#include "learn/format/torch_zip.h"

struct format {
    const char *file_name, *index_name;
    yoke_status (*open)(const char *path, void **file_out);
    size_t (*count)(const void *file);
    const struct tensor_info *(*get)(const void *file, size_t index);
    yoke_status (*copy)(void *file, size_t index, float *out);
    void (*close)(void *file);
};

static yoke_status safetensors_open_any(const char *path, void **file_out)
{
    struct safetensors *file;
    YOKE_TRY(safetensors_open(path, &file));
    *file_out = file;
    return YOKE_OK;
}

static size_t safetensors_count_any(const void *file)
{
    return safetensors_count(file);
}

static const struct tensor_info *safetensors_get_any(const void *file, size_t index)
{
    return safetensors_get(file, index);
}

static yoke_status safetensors_copy_any(void *file, size_t index, float *out)
{
    const struct tensor_info *info = safetensors_get(file, index);
    tensor_convert(info->dtype, safetensors_data(file, index), info->n_elements, out);
    return YOKE_OK;
}

static void safetensors_close_any(void *file)
{
    safetensors_close(file);
}

static yoke_status torch_zip_open_any(const char *path, void **file_out)
{
    struct torch_zip *file;
    YOKE_TRY(torch_zip_open(path, &file));
    *file_out = file;
    return YOKE_OK;
}

static size_t torch_zip_count_any(const void *file)
{
    return torch_zip_count(file);
}

static const struct tensor_info *torch_zip_get_any(const void *file, size_t index)
{
    return torch_zip_get(file, index);
}

static yoke_status torch_zip_copy_any(void *file, size_t index, float *out)
{
    return torch_zip_copy(file, index, out);
}

static void torch_zip_close_any(void *file)
{
    torch_zip_close(file);
}

static const struct format formats[] = {
    {"model.safetensors", "model.safetensors.index.json", safetensors_open_any,
     safetensors_count_any, safetensors_get_any, safetensors_copy_any, safetensors_close_any},
    {"pytorch_model.bin", "pytorch_model.bin.index.json", torch_zip_open_any, torch_zip_count_any,
     torch_zip_get_any, torch_zip_copy_any, torch_zip_close_any},
};

struct part {
    char *path;
    const char *file_name; /* the end of path */
    void *file;
};

struct place {
    const struct tensor_info *info;
    size_t part, index; /* tensor `index` of that file */
};

struct tensor_source {
    const struct format *format;
    struct part *parts;
    size_t n_parts, parts_capacity;
    struct place *places; /* sorted by name */
    size_t n_places, places_capacity;
};

static yoke_status refuse_pointer_file(const char *path)
{
    static const char pointer[] = "version https://git-lfs";
    struct file_map map;
    YOKE_TRY(file_map_open(path, &map));
    const bool found =
        map.size_bytes >= sizeof pointer - 1 && memcmp(map.data, pointer, sizeof pointer - 1) == 0;
    file_map_close(&map);
    if (found) {
        return yoke_fail(
            YOKE_ERR_FORMAT,
            "%s is a Git LFS pointer, not the weights; run \"git lfs pull\" in its folder", path);
    }
    return YOKE_OK;
}

static yoke_status add_places(struct tensor_source *source, size_t part)
{
    const void *file = source->parts[part].file;
    const size_t n = source->format->count(file);
    YOKE_TRY(MEM_GROW(source->places, source->places_capacity, source->n_places + n));
    for (size_t i = 0; i < n; i++) {
        source->places[source->n_places++] =
            (struct place){.info = source->format->get(file, i), .part = part, .index = i};
    }
    return YOKE_OK;
}

static yoke_status add_part(struct tensor_source *source, const char *folder, const char *file_name)
{
    YOKE_TRY(MEM_GROW(source->parts, source->parts_capacity, source->n_parts + 1));
    struct part *part = &source->parts[source->n_parts];
    *part = (struct part){.path = str_path(folder, file_name)};
    if (!part->path) {
        return YOKE_ERR_NO_MEMORY;
    }
    source->n_parts++; /* from here on close frees what is set */
    part->file_name = part->path + strlen(part->path) - strlen(file_name);
    YOKE_TRY(refuse_pointer_file(part->path));
    YOKE_TRY(source->format->open(part->path, &part->file));
    return add_places(source, source->n_parts - 1);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct place *)a)->info->name, ((const struct place *)b)->info->name);
}

static yoke_status sort_places(struct tensor_source *source)
{
    if (source->n_places == 0) {
        return YOKE_OK;
    }
    qsort(source->places, source->n_places, sizeof *source->places, by_name);
    for (size_t i = 1; i < source->n_places; i++) {
        if (by_name(&source->places[i - 1], &source->places[i]) == 0) {
            return yoke_fail(YOKE_ERR_FORMAT, "tensor %.100s stands in %s and again in %s",
                             source->places[i].info->name, tensor_source_path(source, i - 1),
                             tensor_source_path(source, i));
        }
    }
    return YOKE_OK;
}

static size_t find_part(const struct tensor_source *source, const char *file_name)
{
    for (size_t i = 0; i < source->n_parts; i++) {
        if (strcmp(source->parts[i].file_name, file_name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* Opens every file that the index names, once. */
static yoke_status add_indexed_parts(struct tensor_source *source, const char *folder,
                                     const char *index_path, json_t *weight_map)
{
    for (void *at = json_object_iter(weight_map); at; at = json_object_iter_next(weight_map, at)) {
        const char *file_name = json_string_value(json_object_iter_value(at));
        if (!file_name || !*file_name || strchr(file_name, '/') || strcmp(file_name, ".") == 0 ||
            strcmp(file_name, "..") == 0) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: tensor %.100s must name a file of the same folder, not %.100s",
                             index_path, json_object_iter_key(at),
                             file_name ? file_name : "a value");
        }
        if (find_part(source, file_name) == SIZE_MAX) {
            const yoke_status status = add_part(source, folder, file_name);
            if (status < 0) {
                return yoke_fail_prefix(status, "%s", index_path);
            }
        }
    }
    return YOKE_OK;
}

static yoke_status check_index(const struct tensor_source *source, const char *index_path,
                               json_t *weight_map)
{
    for (void *at = json_object_iter(weight_map); at; at = json_object_iter_next(weight_map, at)) {
        const char *name = json_object_iter_key(at);
        const char *file_name = json_string_value(json_object_iter_value(at));
        const size_t index = tensor_source_find(source, name);
        if (index == SIZE_MAX ||
            strcmp(source->parts[source->places[index].part].file_name, file_name) != 0) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: tensor %.100s is not in %.100s, where it should be", index_path,
                             name, file_name);
        }
    }
    return YOKE_OK;
}

static yoke_status open_index(struct tensor_source *source, const char *folder,
                              const char *index_path)
{
    json_t *index = NULL;
    yoke_status status;
    YOKE_TRY_GOTO(json_read_file(index_path, &index));
    json_t *weight_map = json_object_get(index, "weight_map");
    if (!json_is_object(weight_map)) {
        status = yoke_fail(YOKE_ERR_FORMAT, "%s has no \"weight_map\"", index_path);
        goto done;
    }
    YOKE_TRY_GOTO(add_indexed_parts(source, folder, index_path, weight_map));
    YOKE_TRY_GOTO(sort_places(source));
    YOKE_TRY_GOTO(check_index(source, index_path, weight_map));
done:
    json_decref(index);
    return status;
}

/* Opens the folder if it has this format; *found_out says whether, even when opening fails. */
static yoke_status try_format(struct tensor_source *source, const char *folder,
                              const struct format *format, bool *found_out)
{
    yoke_status status = YOKE_ERR_NO_MEMORY;
    char *file_path = str_path(folder, format->file_name);
    char *index_path = str_path(folder, format->index_name);
    source->format = format;
    if (file_path && index_path) {
        const bool whole = file_exists(file_path);
        *found_out = whole || file_exists(index_path);
        status = YOKE_OK;
        if (whole) {
            status = add_part(source, folder, format->file_name);
            status = status < 0 ? status : sort_places(source);
        } else if (*found_out) {
            status = open_index(source, folder, index_path);
        }
    }
    mem_free(file_path);
    mem_free(index_path);
    return status;
}

yoke_status tensor_source_open(const char *folder, struct tensor_source **source_out)
{
    struct tensor_source *source = NULL;
    bool found = false;
    yoke_status status;
    YOKE_TRY_GOTO(MEM_NEW(source, 1));
    for (size_t i = 0; !found && i < sizeof formats / sizeof *formats; i++) {
        YOKE_TRY_GOTO(try_format(source, folder, &formats[i], &found));
    }
    if (!found) {
        status = yoke_fail(YOKE_ERR_NOT_FOUND,
                           "%s has no weights: neither %s nor %s, nor the index of a sharded model",
                           folder, formats[0].file_name, formats[1].file_name);
        goto done;
    }
    *source_out = source;
done:
    if (status < 0) {
        tensor_source_close(source);
    }
    return status;
}

void tensor_source_close(struct tensor_source *source)
{
    if (!source) {
        return;
    }
    for (size_t i = 0; i < source->n_parts; i++) {
        if (source->parts[i].file) {
            source->format->close(source->parts[i].file);
        }
        mem_free(source->parts[i].path);
    }
    mem_free(source->parts);
    mem_free(source->places);
    mem_free(source);
}

size_t tensor_source_count(const struct tensor_source *source)
{
    return source->n_places;
}

const struct tensor_info *tensor_source_get(const struct tensor_source *source, size_t index)
{
    return source->places[index].info;
}

size_t tensor_source_find(const struct tensor_source *source, const char *name)
{
    size_t low = 0;
    size_t high = source->n_places;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(source->places[middle].info->name, name);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return SIZE_MAX;
}

const char *tensor_source_path(const struct tensor_source *source, size_t index)
{
    return source->parts[source->places[index].part].path;
}

yoke_status tensor_source_copy(const struct tensor_source *source, size_t index, float *out)
{
    const struct place *place = &source->places[index];
    return source->format->copy(source->parts[place->part].file, place->index, out);
}
