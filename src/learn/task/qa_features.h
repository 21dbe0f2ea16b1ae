/* Features: windows of (question, context) as the model reads them. */
#ifndef LEARN_TASK_QA_FEATURES_H
#define LEARN_TASK_QA_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"
#include "learn/task/qa_data.h"
#include "learn/text/tokenizer.h"

struct qa_feature {
    uint32_t example;       /* index into qa_data */
    uint32_t n_tokens;      /* [CLS] question [SEP] window [SEP] */
    uint32_t context_begin; /* index of the window's first context token */
    uint32_t context_end;   /* one past its last */
    const uint32_t *ids;    /* [n_tokens] */
    const uint8_t *types;   /* [n_tokens] 0 question, 1 context */
    const uint32_t
        *offset_begins; /* [n_tokens] code points of the context; valid for context tokens */
    const uint32_t *offset_ends;
    uint32_t start, end; /* training labels (token positions); 0, 0 = CLS when not in the window */
};

struct qa_features {
    struct qa_feature *features;
    size_t n_features;
    size_t n_clamped; /* questions so long that the stride was clamped: reported in one warning */
    void *storage;
};

struct qa_feature_options {
    size_t max_seq_length; /* already clipped to the tokenizer's and model's limits */
    size_t doc_stride;     /* overlapping tokens */
    bool labels;           /* compute start and end */
    bool show_progress;
    int n_threads;
};

/* Tokenizes all examples on n_threads and cuts windows. Order: examples, then windows. An error
 * names the file part: the question's id. A question that leaves no room for context is an error; a
 * stride that does not fit the room left is clamped to room - 1 and counted. */
yoke_status qa_features_build(const struct qa_data *data, const struct tokenizer *tokenizer,
                              const struct qa_feature_options *options,
                              struct qa_features *features_out) YOKE_MUST_USE;
void qa_features_fini(struct qa_features *features);

#endif
