/* Bytes in, whole lines out, one write each, so that lines of two ranks never mix. */
#include "app/launch/line_label.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static void begin_line(struct line_label *label)
{
    label->n = (size_t)snprintf(label->line, sizeof label->line, "[rank %d] ", label->rank);
}

static void end_line(struct line_label *label)
{
    label->line[label->n++] = '\n';
    for (size_t done = 0; done < label->n;) {
        const ssize_t n = write(label->to, label->line + done, label->n - done);
        if (n < 0 && errno != EINTR) {
            break; /* nobody reads any more: the job goes on */
        }
        done += n > 0 ? (size_t)n : 0;
    }
    label->n = 0;
}

void line_label_init(struct line_label *label, int from, int to, int rank)
{
    *label = (struct line_label){.from = from, .to = to, .rank = rank};
}

static void take_byte(struct line_label *label, char byte)
{
    if (label->n == 0) {
        begin_line(label);
    }
    if (byte == '\n') {
        end_line(label);
        return;
    }
    label->line[label->n++] = byte;
    if (label->n >= LINE_LABEL_BYTES) {
        end_line(label);
    }
}

void line_label_pump(struct line_label *label)
{
    char bytes[4096];
    while (label->from >= 0) {
        const ssize_t n = read(label->from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            return;
        }
        for (ssize_t i = 0; i < n; i++) {
            take_byte(label, bytes[i]);
        }
        if (n <= 0) {
            close(label->from);
            label->from = -1;
        }
    }
}

void line_label_fini(struct line_label *label)
{
    line_label_pump(label);
    if (label->n > 0) {
        end_line(label);
    }
    if (label->from >= 0) {
        close(label->from);
        label->from = -1;
    }
}
