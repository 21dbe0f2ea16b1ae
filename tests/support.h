/* What the tests share: cmocka with its prerequisites, checks of a status, and folders that vanish.
 */
#ifndef TESTS_SUPPORT_H
#define TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/file.h"
#include "base/core/status.h"

/* The call succeeds; otherwise its message is shown. */
#define EXPECT_OK(expression)                                                                      \
    do {                                                                                           \
        const yoke_status expect_status = (expression);                                            \
        if (expect_status < 0) {                                                                   \
            fail_msg("%s: %s (%s)", #expression, yoke_last_error(),                                \
                     yoke_status_text(expect_status));                                             \
        }                                                                                          \
    } while (0)

/* The call fails with this status and a message that contains `part`. */
#define EXPECT_FAIL(expression, wanted, part)                                                      \
    do {                                                                                           \
        const yoke_status expect_status = (expression);                                            \
        if (expect_status != (wanted) || !strstr(yoke_last_error(), (part))) {                     \
            fail_msg("%s: got '%s' with message '%s', wanted '%s' with '%s'", #expression,         \
                     yoke_status_text(expect_status), yoke_last_error(), yoke_status_text(wanted), \
                     (part));                                                                      \
        }                                                                                          \
    } while (0)

/* A fresh empty folder; remove it with test_folder_remove. */
static inline char *test_folder_make(char path[static 64])
{
    snprintf(path, 64, "/tmp/yoke-test-XXXXXX");
    if (!mkdtemp(path)) {
        fail_msg("mkdtemp failed");
    }
    return path;
}

static inline void test_file_copy(const char *from, const char *to)
{
    struct file_map map;
    EXPECT_OK(file_map_open(from, &map));
    EXPECT_OK(file_write_all(to, map.data, map.size_bytes));
    file_map_close(&map);
}

static inline void test_folder_remove(const char *path)
{
    EXPECT_OK(file_remove_tree(path));
}

#endif
