/* The terminal: plain output, colours, and the progress bar.
 *
 * On a terminal the bar is redrawn in place at most ten times a second; elsewhere it writes a sober
 * line now and then. Log lines and the bar do not garble each other. */
#ifndef BASE_TERM_TERMINAL_H
#define BASE_TERM_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* printf to standard output, flushed: for what a command is asked to print. A bar that is drawn makes
 * room and comes back. */
void term_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True when standard output is a terminal that understands colours and NO_COLOR is unset. */
bool term_out_has_colour(void);

/* True when standard error is a terminal. */
bool term_is_interactive(void);

struct progress {
    const char *label; /* borrowed, "Training" */
    const char *unit;  /* borrowed, "step" */
    int64_t total;
    double started;
    double last_drawn;
    bool interactive;
    bool enabled;
    struct progress *outer; /* the bar that this one interrupts, e.g. an evaluation's the training's */
};

/* Starts a bar of `total` units; with `enabled` false nothing is ever drawn. Bars nest: the last one started
 * is finished first, and stays where it is until then. */
void progress_start(struct progress *bar, const char *label, const char *unit, int64_t total,
                    bool enabled);

/* Shows that `done` units are complete; `note` (may be NULL) stands at the end, "loss 1.23".
 * Cheap: most calls draw nothing. One thread only. */
void progress_show(struct progress *bar, int64_t done, const char *note);

/* Draws the final state and leaves the line. */
void progress_finish(struct progress *bar, int64_t done, const char *note);

#endif
