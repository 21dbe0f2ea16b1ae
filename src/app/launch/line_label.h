/* Lines of a rank with the rank's number in front. */
#ifndef APP_LAUNCH_LINE_LABEL_H
#define APP_LAUNCH_LINE_LABEL_H

#include <stdbool.h>
#include <stddef.h>

enum { LINE_LABEL_BYTES = 4096 }; /* longer lines are broken */

struct line_label {
    int from; /* the read end of a pipe, not blocking; -1 when it is at its end */
    int to;
    int rank;
    size_t n;
    char line[LINE_LABEL_BYTES + 32]; /* label, text so far, line break */
};

void line_label_init(struct line_label *label, int from, int to, int rank);

/* Moves what is there. Closes `from` at the end of the stream. */
void line_label_pump(struct line_label *label);

/* Writes what is there, an unfinished line too, and closes `from`. */
void line_label_fini(struct line_label *label);

#endif
