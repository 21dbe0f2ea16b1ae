/* Mapping, atomic writing and small questions on the file system. */
#include "base/core/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/core/str.h"

enum { BUFFER_BYTES = 1 << 20 };

static const char temporary_mark[] = ".yoke-tmp-"; /* the writer's process follows */

yoke_status file_map_open(const char *path, struct file_map *map_out)
{
    yoke_status status = YOKE_OK;
    struct stat info;
    void *data = NULL;
    /* Without O_NONBLOCK a named pipe would be waited for before it can be refused. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return yoke_fail(errno == ENOENT || errno == ENOTDIR ? YOKE_ERR_NOT_FOUND : YOKE_ERR_IO,
                         "cannot open %s: %m", path);
    }
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = yoke_fail(YOKE_ERR_IO, "cannot read %s: it is not a regular file", path);
        goto done;
    }
    if (info.st_size > 0) {
        data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data == MAP_FAILED) {
            status = yoke_fail(YOKE_ERR_IO, "cannot map %s: %m", path);
            goto done;
        }
    }
    map_out->data = data ? data : (const unsigned char *)"";
    map_out->size_bytes = (size_t)info.st_size;
done:
    close(fd);
    return status;
}

void file_map_close(struct file_map *map)
{
    if (map->size_bytes > 0) {
        (void)munmap((void *)(uintptr_t)map->data, map->size_bytes);
    }
    *map = (struct file_map){0};
}

char *file_temporary_path(const char *path)
{
    struct str text = {0};
    if (str_printf(&text, "%s%s%ld", path, temporary_mark, (long)getpid()) < 0) {
        str_fini(&text);
        return NULL;
    }
    return text.text;
}

bool file_is_leftover(const char *name)
{
    const char *mark = NULL;
    for (const char *p = name; (p = strstr(p, temporary_mark)); p++) {
        mark = p;
    }
    int64_t pid;
    return mark && str_to_int64(mark + strlen(temporary_mark), &pid) && pid > 0 &&
           pid <= INT32_MAX && (pid == getpid() || (kill((pid_t)pid, 0) != 0 && errno == ESRCH));
}

yoke_status file_writer_open(struct file_writer *writer, const char *path)
{
    *writer = (struct file_writer){.fd = -1};
    char *temporary = file_temporary_path(path);
    writer->path = mem_strdup(path);
    writer->buffer = mem_calloc(BUFFER_BYTES, 1);
    if (!writer->path || !writer->buffer || !temporary) {
        mem_free(temporary);
        file_writer_abort(writer);
        return YOKE_ERR_NO_MEMORY;
    }
    writer->fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->fd < 0) {
        const yoke_status status = yoke_fail(YOKE_ERR_IO, "cannot write %s: %m", path);
        mem_free(temporary);
        file_writer_abort(writer);
        return status;
    }
    writer->temporary = temporary;
    return YOKE_OK;
}

static yoke_status write_fully(const struct file_writer *writer, const unsigned char *data,
                               size_t n_bytes)
{
    while (n_bytes > 0) {
        const ssize_t n = write(writer->fd, data, n_bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return yoke_fail(YOKE_ERR_IO, "cannot write %s: %m; nothing was overwritten",
                             writer->path);
        }
        data += n;
        n_bytes -= (size_t)n;
    }
    return YOKE_OK;
}

static yoke_status flush(struct file_writer *writer)
{
    const size_t n = writer->n_buffered;
    writer->n_buffered = 0;
    return write_fully(writer, writer->buffer, n);
}

yoke_status file_writer_write(struct file_writer *writer, const void *data, size_t n_bytes)
{
    if (n_bytes > BUFFER_BYTES - writer->n_buffered) {
        YOKE_TRY(flush(writer));
    }
    if (n_bytes > BUFFER_BYTES) {
        return write_fully(writer, data, n_bytes);
    }
    memcpy(writer->buffer + writer->n_buffered, data, n_bytes);
    writer->n_buffered += n_bytes;
    return YOKE_OK;
}

yoke_status file_writer_commit(struct file_writer *writer)
{
    yoke_status status = flush(writer);
    if (status == YOKE_OK && fsync(writer->fd) != 0 && errno != EINVAL && errno != EROFS) {
        status =
            yoke_fail(YOKE_ERR_IO, "cannot write %s: %m; nothing was overwritten", writer->path);
    }
    if (status == YOKE_OK && rename(writer->temporary, writer->path) != 0) {
        status = yoke_fail(YOKE_ERR_IO, "cannot put %s in its place: %m", writer->path);
    }
    if (status == YOKE_OK) {
        mem_free(writer->temporary); /* it is PATH now: nothing for abort to remove */
        writer->temporary = NULL;
    }
    file_writer_abort(writer);
    return status;
}

void file_writer_abort(struct file_writer *writer)
{
    if (writer->buffer && writer->fd >= 0) {
        close(writer->fd);
    }
    if (writer->temporary) {
        (void)unlink(writer->temporary);
    }
    mem_free(writer->temporary);
    mem_free(writer->path);
    mem_free(writer->buffer);
    *writer = (struct file_writer){.fd = -1};
}

yoke_status file_write_all(const char *path, const void *data, size_t n_bytes)
{
    struct file_writer writer;
    YOKE_TRY(file_writer_open(&writer, path));
    yoke_status status = file_writer_write(&writer, data, n_bytes);
    if (status == YOKE_OK) {
        return file_writer_commit(&writer);
    }
    file_writer_abort(&writer);
    return status;
}

bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool file_is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

yoke_status file_make_directories(const char *path)
{
    char *copy = mem_strdup(path);
    if (!copy) {
        return YOKE_ERR_NO_MEMORY;
    }
    yoke_status status = YOKE_OK;
    for (char *p = copy + 1; *copy && status == YOKE_OK; p++) {
        if (*p != '/' && *p != '\0') {
            continue;
        }
        const char end = *p;
        *p = '\0';
        const int error = mkdir(copy, 0777) == 0 ? 0 : errno;
        if (error != 0 && !file_is_directory(copy)) {
            status = yoke_fail(YOKE_ERR_IO, "cannot make the folder %s: %s", copy, strerror(error));
        }
        *p = end;
        if (end == '\0') {
            break;
        }
    }
    mem_free(copy);
    if (status == YOKE_OK && *path && access(path, W_OK | X_OK) != 0) {
        status = yoke_fail(YOKE_ERR_IO, "cannot write into the folder %s: %m", path);
    }
    return status;
}

static int skip_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

yoke_status file_list(const char *directory, yoke_status (*visit)(const char *name, void *context),
                      void *context)
{
    struct dirent **entries = NULL;
    const int n = scandir(directory, &entries, skip_dots, by_bytes);
    if (n < 0) {
        return yoke_fail(errno == ENOENT ? YOKE_ERR_NOT_FOUND : YOKE_ERR_IO,
                         "cannot list the folder %s: %m", directory);
    }
    yoke_status status = YOKE_OK;
    for (int i = 0; i < n; i++) {
        if (status >= 0) {
            status = visit(entries[i]->d_name, context);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static yoke_status remove_entry(const char *name, void *context)
{
    char *path = str_path(context, name);
    if (!path) {
        return YOKE_ERR_NO_MEMORY;
    }
    const yoke_status status = file_remove_tree(path);
    mem_free(path);
    return status;
}

yoke_status file_remove_tree(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0) { /* a read-only disk would not even remove what is not there */
        return errno == ENOENT || errno == ENOTDIR
                   ? YOKE_OK
                   : yoke_fail(YOKE_ERR_IO, "cannot remove %s: %m", path);
    }
    if (!S_ISDIR(info.st_mode)) {
        return unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR
                   ? YOKE_OK
                   : yoke_fail(YOKE_ERR_IO, "cannot remove %s: %m", path);
    }
    YOKE_TRY(file_list(path, remove_entry, (void *)(uintptr_t)path));
    if (rmdir(path) != 0 && errno != ENOENT) {
        return yoke_fail(YOKE_ERR_IO, "cannot remove the folder %s: %m", path);
    }
    return YOKE_OK;
}

yoke_status file_discard(const char *path)
{
    struct str old = {0};
    YOKE_TRY(str_printf(&old, "%s.old", path));
    char *temporary = file_temporary_path(str_text(&old));
    str_fini(&old);
    if (!temporary) {
        return YOKE_ERR_NO_MEMORY;
    }
    yoke_status status = file_remove_tree(temporary);
    if (status == YOKE_OK && rename(path, temporary) != 0) {
        status = yoke_fail(YOKE_ERR_IO, "cannot remove %s: %m", path);
    }
    if (status == YOKE_OK) {
        status = file_remove_tree(temporary);
    }
    mem_free(temporary);
    return status;
}
