/* One formatted line, one write. */
#include "base/core/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/str.h"

static atomic_int least_level = LOG_INFO;          /* relaxed: set once at start */
static void (*_Atomic line_hook)(int before_line); /* set by base/term while a bar is drawn */

static const char *const level_names[] = {"DEBUG", "INFO", "WARNING", "ERROR"};

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&least_level, level, memory_order_relaxed);
}

enum log_level log_get_level(void)
{
    return (enum log_level)atomic_load_explicit(&least_level, memory_order_relaxed);
}

void log_set_hook(void (*hook)(int before_line))
{
    atomic_store(&line_hook, hook);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void log_write(enum log_level level, const char *file, int line, const char *format, ...)
{
    if (level < log_get_level()) {
        return;
    }
    char text[2048];
    char stamp[32];
    int n = snprintf(text, sizeof text, "[%s|%s:%d] %s >> ", level_names[level], base_name(file),
                     line, clock_stamp(stamp));
    va_list args;
    va_start(args, format);
    const int m = vsnprintf(text + n, sizeof text - (size_t)n - 1, format, args);
    va_end(args);
    n += m < 0 ? 0 : m;
    if (n > (int)sizeof text - 2) {
        n = (int)sizeof text - 2;
    }
    str_keep_one_line(text);
    text[n++] = '\n';
    void (*hook)(int) = atomic_load(&line_hook);
    if (hook) {
        hook(1);
    }
    (void)!write(STDERR_FILENO, text, (size_t)n); /* nobody is left to tell when this fails */
    if (hook) {
        hook(0);
    }
}
