/* The archive is read with libzip over the mapped file. A dense tensor of fp32, the common case,
 * goes from the member straight to its destination; other types pass through a small buffer; a
 * strided view is gathered from the part of the storage that it touches.
 *
 * Against archives that lie: a member's size must be what the pickle claims, a compressed member
 * cannot claim more than deflate makes of its bytes; nothing is allocated for a claim before. */
#include "learn/format/torch_zip.h"

#include <stdio.h>
#include <string.h>
#include <zip.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "learn/format/torch_pickle.h"

enum {
    CHUNK_BYTES = 64 << 10,
    MAX_DEFLATE_RATIO = 1032, /* RFC 1951: 258 bytes from 2 bits */
    MAX_STEM_BYTES = 256
};

struct member {
    zip_uint64_t index;
    bool stored; /* uncompressed: libzip can seek in it */
};

struct torch_zip {
    struct file_map map; /* zero when the memory is borrowed */
    zip_t *zip;
    char *name;                /* of the file, for errors */
    char stem[MAX_STEM_BYTES]; /* the folder inside the archive */
    struct pickled_tensors tensors;
    struct member *members; /* of each tensor's storage */
    unsigned char *chunk;   /* CHUNK_BYTES of a member on their way */
};

static yoke_status refuse_other_formats(const unsigned char *data, size_t n_bytes, const char *name)
{
    if (n_bytes >= 2 && memcmp(data, "PK", 2) == 0) {
        return YOKE_OK;
    }
    if (n_bytes >= 2 && data[0] == 0x80 && data[1] == 2) {
        return yoke_fail(
            YOKE_ERR_UNSUPPORTED,
            "%s was written by torch before 1.6, which this version does not read; load it "
            "with torch 1.6 or newer and save it again, best as model.safetensors",
            name);
    }
    return yoke_fail(YOKE_ERR_FORMAT, "%s is no zip archive; torch.save has written one since 1.6",
                     name);
}

static yoke_status open_archive(struct torch_zip *file, const void *data, size_t n_bytes)
{
    zip_error_t error;
    zip_error_init(&error);
    yoke_status status = YOKE_OK;
    zip_source_t *source = zip_source_buffer_create(data, n_bytes, 0, &error);
    if (source) {
        file->zip = zip_open_from_source(source, ZIP_RDONLY, &error);
    }
    if (!file->zip) {
        status = yoke_fail(YOKE_ERR_FORMAT, "%s is no whole zip archive: %s", file->name,
                           zip_error_strerror(&error));
        zip_source_free(
            source); /* the archive owns it only when it could be opened; NULL is allowed */
    }
    zip_error_fini(&error);
    return status;
}

/* The stem is the one folder that holds data.pkl. */
static yoke_status find_stem(struct torch_zip *file)
{
    const zip_int64_t n = zip_get_num_entries(file->zip, 0);
    for (zip_int64_t i = 0; i < n; i++) {
        const char *name = zip_get_name(file->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        const char *slash = name ? strchr(name, '/') : NULL;
        if (slash && strcmp(slash, "/data.pkl") == 0 && slash - name < MAX_STEM_BYTES) {
            memcpy(file->stem, name, (size_t)(slash - name));
            return YOKE_OK;
        }
    }
    return yoke_fail(YOKE_ERR_FORMAT, "%s is a zip archive but not one of torch.save: no data.pkl",
                     file->name);
}

/* Index and size of member STEM/NAME; YOKE_ERR_NOT_FOUND without a message when there is none. */
static yoke_status find_member(const struct torch_zip *file, const char *name, zip_stat_t *info_out)
{
    char path[2 * MAX_STEM_BYTES + 1024];
    snprintf(path, sizeof path, "%s/%s", file->stem, name);
    const zip_int64_t index = zip_name_locate(file->zip, path, ZIP_FL_ENC_RAW);
    if (index < 0) {
        return YOKE_ERR_NOT_FOUND;
    }
    const zip_uint64_t wanted =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_INDEX | ZIP_STAT_COMP_METHOD;
    if (zip_stat_index(file->zip, (zip_uint64_t)index, 0, info_out) != 0 ||
        (info_out->valid & wanted) != wanted) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: member %.100s has no size", file->name, name);
    }
    if (info_out->size / MAX_DEFLATE_RATIO > info_out->comp_size + 1) {
        return yoke_fail(
            YOKE_ERR_FORMAT,
            "%s: member %.100s claims %llu bytes, more than its %llu compressed bytes hold",
            file->name, name, (unsigned long long)info_out->size,
            (unsigned long long)info_out->comp_size);
    }
    return YOKE_OK;
}

static yoke_status open_member(const struct torch_zip *file, zip_uint64_t index,
                               zip_file_t **member_out)
{
    *member_out = zip_fopen_index(file->zip, index, 0);
    if (!*member_out) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s: member %llu cannot be read: %s", file->name,
                         (unsigned long long)index, zip_strerror(file->zip));
    }
    return YOKE_OK;
}

static yoke_status read_member(const struct torch_zip *file, zip_file_t *member, void *to,
                               size_t n_bytes)
{
    unsigned char *at = to;
    while (n_bytes > 0) {
        const zip_int64_t n = zip_fread(member, at, n_bytes);
        if (n <= 0) {
            return yoke_fail(YOKE_ERR_FORMAT, "%s: a member ends early or is damaged%s%s",
                             file->name, n < 0 ? ": " : "", n < 0 ? zip_file_strerror(member) : "");
        }
        at += n;
        n_bytes -= (size_t)n;
    }
    return YOKE_OK;
}

/* Stored members seek; compressed ones are read up to the place. */
static yoke_status skip_member(struct torch_zip *file, zip_file_t *member, bool stored,
                               size_t n_bytes)
{
    if (stored && n_bytes > 0) {
        if (zip_fseek(member, (zip_int64_t)n_bytes, SEEK_SET) != 0) {
            return yoke_fail(YOKE_ERR_FORMAT, "%s: a member ends early or is damaged: %s",
                             file->name, zip_file_strerror(member));
        }
        return YOKE_OK;
    }
    while (n_bytes > 0) {
        const size_t n = n_bytes < CHUNK_BYTES ? n_bytes : CHUNK_BYTES;
        YOKE_TRY(read_member(file, member, file->chunk, n));
        n_bytes -= n;
    }
    return YOKE_OK;
}

static yoke_status read_whole_member(struct torch_zip *file, const zip_stat_t *info, void *to)
{
    zip_file_t *member;
    YOKE_TRY(open_member(file, info->index, &member));
    const yoke_status status = read_member(file, member, to, (size_t)info->size);
    (void)zip_fclose(member); /* a reader: nothing is left to fail */
    return status;
}

static yoke_status check_byte_order(struct torch_zip *file)
{
    enum { MAX_WORD = 16 };
    zip_stat_t info;
    const yoke_status status = find_member(file, "byteorder", &info);
    if (status == YOKE_ERR_NOT_FOUND) { /* files before torch 2.1 do not say */
        return YOKE_OK;
    }
    YOKE_TRY(status);
    char word[MAX_WORD + 1] = {0};
    if (info.size <= MAX_WORD) {
        YOKE_TRY(read_whole_member(file, &info, word));
    }
    if (strcmp(word, "little") != 0) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s was not written in little-endian byte order; save it again on a "
                         "little-endian machine",
                         file->name);
    }
    return YOKE_OK;
}

static yoke_status read_pickle(struct torch_zip *file)
{
    zip_stat_t info;
    unsigned char *bytes = NULL;
    YOKE_TRY(find_member(file, "data.pkl", &info));
    YOKE_TRY(MEM_NEW(bytes, (size_t)info.size));
    yoke_status status = read_whole_member(file, &info, bytes);
    if (status >= 0) {
        status = torch_pickle_read(bytes, (size_t)info.size, file->name, &file->tensors);
    }
    mem_free(bytes);
    return status;
}

static yoke_status find_storage(const struct torch_zip *file, const struct pickled_tensor *tensor,
                                struct member *member_out)
{
    char name[1024];
    zip_stat_t info;
    snprintf(name, sizeof name, "data/%s", tensor->storage_key);
    const yoke_status status = find_member(file, name, &info);
    if (status == YOKE_ERR_NOT_FOUND) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: tensor %.100s lies in member %.100s, which is missing", file->name,
                         tensor->info.name, name);
    }
    YOKE_TRY(status);
    const size_t item_bytes = tensor_dtype_bytes(tensor->info.dtype);
    if (info.size % item_bytes != 0 || info.size / item_bytes != tensor->storage_elements) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: tensor %.100s: its storage has %llu bytes, not %zu elements of %s",
                         file->name, tensor->info.name, (unsigned long long)info.size,
                         tensor->storage_elements, tensor_dtype_name(tensor->info.dtype));
    }
    *member_out = (struct member){.index = info.index, .stored = info.comp_method == ZIP_CM_STORE};
    return YOKE_OK;
}

static yoke_status open_all(struct torch_zip *file, const void *data, size_t n_bytes)
{
    YOKE_TRY(refuse_other_formats(data, n_bytes, file->name));
    YOKE_TRY(open_archive(file, data, n_bytes));
    YOKE_TRY(find_stem(file));
    YOKE_TRY(check_byte_order(file));
    YOKE_TRY(read_pickle(file));
    YOKE_TRY(MEM_NEW(file->members, file->tensors.n_tensors));
    for (size_t i = 0; i < file->tensors.n_tensors; i++) {
        YOKE_TRY(find_storage(file, &file->tensors.table[i], &file->members[i]));
    }
    return YOKE_OK;
}

yoke_status torch_zip_open_memory(const void *data, size_t n_bytes, const char *name,
                                  struct torch_zip **file_out)
{
    struct torch_zip *file = NULL;
    yoke_status status;
    YOKE_TRY_GOTO(MEM_NEW(file, 1));
    YOKE_TRY_GOTO(MEM_NEW(file->name, strlen(name) + 1));
    memcpy(file->name, name, strlen(name));
    YOKE_TRY_GOTO(MEM_NEW(file->chunk, CHUNK_BYTES));
    YOKE_TRY_GOTO(open_all(file, data, n_bytes));
    *file_out = file;
done:
    if (status < 0) {
        torch_zip_close(file);
    }
    return status;
}

yoke_status torch_zip_open(const char *path, struct torch_zip **file_out)
{
    struct file_map map;
    YOKE_TRY(file_map_open(path, &map));
    struct torch_zip *file;
    const yoke_status status = torch_zip_open_memory(map.data, map.size_bytes, path, &file);
    if (status < 0) {
        file_map_close(&map);
        return status;
    }
    file->map = map;
    *file_out = file;
    return YOKE_OK;
}

void torch_zip_close(struct torch_zip *file)
{
    if (!file) {
        return;
    }
    if (file->zip) {
        zip_discard(file->zip);
    }
    pickled_tensors_fini(&file->tensors);
    mem_free(file->members);
    mem_free(file->chunk);
    mem_free(file->name);
    file_map_close(&file->map);
    mem_free(file);
}

size_t torch_zip_count(const struct torch_zip *file)
{
    return file->tensors.n_tensors;
}

const struct tensor_info *torch_zip_get(const struct torch_zip *file, size_t index)
{
    return &file->tensors.table[index].info;
}

static bool is_dense(const struct pickled_tensor *tensor)
{
    size_t expected = 1;
    for (size_t i = tensor->info.n_dims; i > 0; i--) {
        if (tensor->info.shape[i - 1] != 1 && tensor->strides[i - 1] != expected) {
            return false;
        }
        expected *= tensor->info.shape[i - 1];
    }
    return true;
}

static yoke_status copy_dense(struct torch_zip *file, const struct pickled_tensor *tensor,
                              zip_file_t *member, float *out)
{
    const size_t item_bytes = tensor_dtype_bytes(tensor->info.dtype);
    size_t n_left = tensor->info.n_elements;
    if (tensor->info.dtype == TENSOR_F32) {
        return read_member(file, member, out, n_left * item_bytes);
    }
    while (n_left > 0) {
        const size_t n = n_left < CHUNK_BYTES / item_bytes ? n_left : CHUNK_BYTES / item_bytes;
        YOKE_TRY(read_member(file, member, file->chunk, n * item_bytes));
        tensor_convert(tensor->info.dtype, file->chunk, n, out);
        out += n;
        n_left -= n;
    }
    return YOKE_OK;
}

/* out[...] = span[sum of index * stride], counting the index like an odometer. */
static void gather(const struct pickled_tensor *tensor, const unsigned char *span, float *out)
{
    const size_t item_bytes = tensor_dtype_bytes(tensor->info.dtype);
    size_t index[TENSOR_MAX_DIMS] = {0};
    size_t at = 0;
    for (size_t i = 0; i < tensor->info.n_elements; i++) {
        tensor_convert(tensor->info.dtype, span + at * item_bytes, 1, out + i);
        for (size_t d = tensor->info.n_dims; d > 0; d--) {
            at += tensor->strides[d - 1];
            if (++index[d - 1] < tensor->info.shape[d - 1]) {
                break;
            }
            at -= index[d - 1] * tensor->strides[d - 1];
            index[d - 1] = 0;
        }
    }
}

static yoke_status copy_strided(const struct torch_zip *file, const struct pickled_tensor *tensor,
                                zip_file_t *member, float *out)
{
    unsigned char *span = NULL;
    const size_t item_bytes = tensor_dtype_bytes(tensor->info.dtype);
    YOKE_TRY(MEM_NEW(span, tensor->span * item_bytes));
    const yoke_status status = read_member(file, member, span, tensor->span * item_bytes);
    if (status >= 0) {
        gather(tensor, span, out);
    }
    mem_free(span);
    return status;
}

yoke_status torch_zip_copy(struct torch_zip *file, size_t index, float *out)
{
    const struct pickled_tensor *tensor = &file->tensors.table[index];
    if (tensor->info.n_elements == 0) {
        return YOKE_OK;
    }
    zip_file_t *member;
    YOKE_TRY(open_member(file, file->members[index].index, &member));
    yoke_status status = skip_member(file, member, file->members[index].stored,
                                     tensor->offset * tensor_dtype_bytes(tensor->info.dtype));
    if (status >= 0) {
        status = is_dense(tensor) ? copy_dense(file, tensor, member, out)
                                  : copy_strided(file, tensor, member, out);
    }
    (void)zip_fclose(member);
    return status;
}
