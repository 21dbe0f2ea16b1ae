/* Output to people: standard output, colours, progress. */
#include "base/term/terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/env.h"
#include "base/core/log.h"

static const double redraw_seconds = 0.1;
static const double sober_line_seconds = 30.0;

static struct progress *innermost; /* the bar that occupies the terminal's last line; one thread draws */

/* A log line clears the bar's line first; the next redraw brings the bar back. */
static void clear_line(int before_line)
{
    if (before_line) {
        (void)!write(STDERR_FILENO, "\r\033[K", 4);
    }
}

void term_print(const char *format, ...)
{
    if (innermost && isatty(STDOUT_FILENO)) {
        clear_line(1);
    }
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
}

bool term_out_has_colour(void)
{
    const char *term = env_get("TERM");
    return isatty(STDOUT_FILENO) && !env_get("NO_COLOR") && term && strcmp(term, "dumb") != 0;
}

bool term_is_interactive(void)
{
    return isatty(STDERR_FILENO);
}

void progress_start(struct progress *bar, const char *label, const char *unit, int64_t total,
                    bool enabled)
{
    *bar = (struct progress){
        .label = label,
        .unit = unit,
        .total = total,
        .started = clock_now(),
        .interactive = term_is_interactive(),
        .enabled = enabled,
    };
    bar->last_drawn = bar->started;
    if (enabled && bar->interactive) {
        bar->outer = innermost;
        innermost = bar;
        log_set_hook(clear_line);
    }
}

static void format_span(double seconds, char *text, size_t n)
{
    const int64_t s = seconds > 0 ? (int64_t)(seconds + 0.5) : 0;
    if (s >= 3600) {
        snprintf(text, n, "%lld:%02d:%02d", (long long)(s / 3600), (int)(s / 60 % 60),
                 (int)(s % 60));
    } else {
        snprintf(text, n, "%02d:%02d", (int)(s / 60), (int)(s % 60));
    }
}

static int terminal_columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* "Training  45%|#########           | 450/1000 [00:45<00:55, 10.0 step/s] loss 1.23" */
static int format_bar(const struct progress *bar, int64_t done, const char *note, char *line,
                      size_t n)
{
    enum { CELLS = 20 };
    const double elapsed = clock_now() - bar->started;
    const double share = bar->total > 0 ? (double)done / (double)bar->total : 1.0;
    const double rate = elapsed > 0 ? (double)done / elapsed : 0.0;
    char cells[CELLS + 1];
    const int full = (int)(share * CELLS);
    for (int i = 0; i < CELLS; i++) {
        cells[i] = i < full ? '#' : ' ';
    }
    cells[CELLS] = '\0';
    char spent[24];
    char left[24] = "?";
    format_span(elapsed, spent, sizeof spent);
    if (rate > 0) {
        format_span((double)(bar->total - done) / rate, left, sizeof left);
    }
    return snprintf(line, n, "%s %3d%%|%s| %lld/%lld [%s<%s, %.*f %s/s] %s", bar->label,
                    (int)(share * 100), cells, (long long)done, (long long)bar->total, spent, left,
                    rate < 10 ? 2 : 0, rate, bar->unit, note ? note : "");
}

static void draw(struct progress *bar, int64_t done, const char *note, const char *end)
{
    char line[512];
    int n = format_bar(bar, done, note, line, sizeof line);
    if (n > (int)sizeof line - 1) {
        n = (int)sizeof line - 1;
    }
    char out[560];
    if (bar->interactive) {
        const int columns = terminal_columns();
        n = n > columns - 1 ? columns - 1 : n; /* a wrapped line could not be redrawn */
        n = snprintf(out, sizeof out, "\r\033[K%.*s%s", n, line, end);
    } else {
        n = snprintf(out, sizeof out, "%.*s\n", n, line);
    }
    (void)!write(STDERR_FILENO, out, (size_t)n);
    bar->last_drawn = clock_now();
}

void progress_show(struct progress *bar, int64_t done, const char *note)
{
    const double wait = bar->interactive ? redraw_seconds : sober_line_seconds;
    if (bar->enabled && clock_now() - bar->last_drawn >= wait) {
        draw(bar, done, note, "");
    }
}

void progress_finish(struct progress *bar, int64_t done, const char *note)
{
    if (!bar->enabled) {
        return;
    }
    draw(bar, done, note, "\n");
    if (bar->interactive) {
        innermost = bar->outer;
        log_set_hook(innermost ? clear_line : NULL);
    }
    bar->enabled = false;
}
