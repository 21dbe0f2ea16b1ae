/* Examples of extractive question answering: SQuAD files, nested v1.1, flat `data`, or JSON lines,
 * recognised from their content. */
#ifndef LEARN_TASK_QA_DATA_H
#define LEARN_TASK_QA_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

struct qa_answer {
    const char *text;      /* UTF-8 */
    uint32_t start;        /* answer_start, in code points of the context */
    uint32_t n_codepoints; /* of text */
};

struct qa_example {
    const char *id;
    const char *question; /* left white space stripped, as the reference does */
    const char *context;
    size_t question_bytes, context_bytes;
    struct qa_answer *answers;
    size_t n_answers; /* 0: unanswerable or unlabelled */
};

struct qa_data {
    struct qa_example *examples;
    size_t n_examples;
    void *storage; /* owns every string */
};

/* Reads `path`. `limit` (max_train_samples) keeps the first examples; SIZE_MAX for all. Errors name
 * file and question id (or line, column): a missing column, an answer that does not stand at its
 * answer_start (the message says where it stands instead, if anywhere), a duplicate id, no example
 * at all. */
yoke_status qa_data_read(const char *path, size_t limit, struct qa_data *data_out) YOKE_MUST_USE;
void qa_data_fini(struct qa_data *data);

#endif
