/* Log lines on standard error, in the reference's library format:
 *     [INFO|loop.c:42] 2026-01-31 12:00:00,123 >> text
 * Every line is written with one write(2), so that lines of several ranks never mix. */
#ifndef BASE_CORE_LOG_H
#define BASE_CORE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERROR };

/* Lines below `level` are dropped (at first: below LOG_INFO). The trainer raises it to LOG_WARNING
 * on all ranks but the first. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* Called before and after a line when a progress bar occupies the terminal's last line; NULL for
 * none. One hook, owned by base/term. */
void log_set_hook(void (*hook)(int before_line));

void log_write(enum log_level level, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#define log_debug(...) log_write(LOG_DEBUG, __FILE__, __LINE__, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __FILE__, __LINE__, __VA_ARGS__)
#define log_warning(...) log_write(LOG_WARNING, __FILE__, __LINE__, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __FILE__, __LINE__, __VA_ARGS__)

#endif
