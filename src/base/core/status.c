/* The status list's texts and the thread's last message. */
#include "base/core/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/core/str.h"

enum { MESSAGE_BYTES = 1024 };

static _Thread_local char last_message[MESSAGE_BYTES];

struct status_entry {
    yoke_status status;
    const char *text;
    int exit_code;
};

#define STATUS_ENTRY(name, value, text, exit_code) {name, text, exit_code},
static const struct status_entry status_table[] = {YOKE_STATUS_LIST(STATUS_ENTRY)};
#undef STATUS_ENTRY

static const struct status_entry *find_entry(yoke_status status)
{
    for (size_t i = 0; i < sizeof status_table / sizeof *status_table; i++) {
        if (status_table[i].status == status) {
            return &status_table[i];
        }
    }
    return NULL;
}

const char *yoke_status_text(yoke_status status)
{
    const struct status_entry *entry = find_entry(status);
    return entry ? entry->text : "unknown status";
}

int yoke_status_exit_code(yoke_status status)
{
    const struct status_entry *entry = find_entry(status);
    return entry ? entry->exit_code : 1;
}

const char *yoke_last_error(void)
{
    return last_message;
}

void yoke_message_set(const char *format, ...)
{
    const int saved_errno = errno;
    /* The arguments may point into last_message, so the text is built beside it. */
    char message[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    str_keep_one_line(message);
    memcpy(last_message, message, sizeof message);
    errno = saved_errno;
}

yoke_status yoke_fail_prefix(yoke_status status, const char *format, ...)
{
    if (status >= 0) {
        return status;
    }
    char message[MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return yoke_fail(status, "%s: %s", message, last_message);
}
