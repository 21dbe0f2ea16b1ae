/* Files: mapped for reading, written whole or not at all.
 *
 * A writer fills "PATH.yoke-tmp-PID" and renames it to PATH when everything, fsync included, has
 * succeeded. A crash leaves at most the temporary file, never half of PATH, and its name tells that
 * its writer is gone. */
#ifndef BASE_CORE_FILE_H
#define BASE_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

/* A file mapped read-only. An empty file has data "" and size 0. */
struct file_map {
    const unsigned char *data;
    size_t size_bytes;
};

/* YOKE_ERR_NOT_FOUND when PATH does not exist, YOKE_ERR_IO otherwise (a directory, no permission).
 */
yoke_status file_map_open(const char *path, struct file_map *map_out) YOKE_MUST_USE;
void file_map_close(struct file_map *map);

struct file_writer {
    char *path;
    char *temporary;
    int fd;
    size_t n_buffered;
    unsigned char *buffer;
};

/* open, any number of writes, then commit or abort. After an error, and after commit, abort does
 * nothing more than release; it accepts a zeroed writer. Errors name PATH; a full disk is
 * YOKE_ERR_IO and says so. */
yoke_status file_writer_open(struct file_writer *writer, const char *path) YOKE_MUST_USE;
yoke_status file_writer_write(struct file_writer *writer, const void *data,
                              size_t n_bytes) YOKE_MUST_USE;
yoke_status file_writer_commit(struct file_writer *writer) YOKE_MUST_USE;
void file_writer_abort(struct file_writer *writer);

/* Writes a whole file in one call. */
yoke_status file_write_all(const char *path, const void *data, size_t n_bytes) YOKE_MUST_USE;

/* "PATH.yoke-tmp-PID" (mem_free), the name under which this process writes PATH; NULL without
 * memory. */
char *file_temporary_path(const char *path);

/* Whether `name` is such a name of a process that this host no longer runs. Numbers of processes
 * come again, so this process's own counts too: ask before it writes. */
bool file_is_leftover(const char *name);

bool file_exists(const char *path);
bool file_is_directory(const char *path);

/* Makes PATH and its missing parents (mode 0777 less the umask). YOKE_ERR_IO when they cannot be
 * made, or when PATH may not be written into. */
yoke_status file_make_directories(const char *path) YOKE_MUST_USE;

/* Calls `visit(name, context)` for each entry of a directory but "." and "..", in byte order of the
 * names; the first error of `visit` ends the walk and is returned. */
yoke_status file_list(const char *directory, yoke_status (*visit)(const char *name, void *context),
                      void *context) YOKE_MUST_USE;

/* Removes a file, or a directory and all below it; it need not exist. Symbolic links are removed,
 * not followed, PATH itself included. */
yoke_status file_remove_tree(const char *path) YOKE_MUST_USE;

/* Removes what is at PATH, which leaves its name at once: a crash leaves a temporary name behind,
 * never half of PATH. */
yoke_status file_discard(const char *path) YOKE_MUST_USE;

#endif
