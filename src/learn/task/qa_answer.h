/* From logits to answers, and from answers to scores. */
#ifndef LEARN_TASK_QA_ANSWER_H
#define LEARN_TASK_QA_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"
#include "learn/task/qa_data.h"
#include "learn/task/qa_features.h"

struct qa_candidate {
    float start_logit, end_logit;
    double probability;
    uint32_t begin, end; /* code points of the context; begin == end: the "empty" entry */
    bool is_empty;       /* the inserted {"text": "empty"} entry */
};

struct qa_prediction {
    struct qa_candidate *candidates; /* best first; candidates[0] is the answer */
    size_t n_candidates;
};

struct qa_predictions {
    struct qa_prediction *predictions; /* [n_examples] */
    size_t n_predictions;
    void *storage;
};

struct qa_answer_options {
    size_t n_best_size;       /* 20 */
    size_t max_answer_length; /* 30 tokens */
};

/* logits: one pointer per feature to its [n_tokens,2]. Rules and tie order of section 2.6 of the reference facts. */
yoke_status qa_answer(const struct qa_data *data, const struct qa_features *features,
                      const float *const *logits, const struct qa_answer_options *options,
                      struct qa_predictions *predictions_out) YOKE_MUST_USE;
void qa_predictions_fini(struct qa_predictions *predictions);

/* PREFIXpredictions.json and PREFIXnbest_predictions.json in `folder`, as the reference writes them. */
yoke_status qa_predictions_write(const struct qa_data *data, const struct qa_predictions *predictions,
                                 const char *folder, const char *prefix) YOKE_MUST_USE;

struct qa_scores {
    double exact_match, f1; /* percent */
    size_t n_scored;        /* examples with at least one gold answer */
};

/* SQuAD v1 metrics (section 2.7). Examples without gold answers are left out and counted by the caller. */
yoke_status qa_score(const struct qa_data *data, const struct qa_predictions *predictions,
                     struct qa_scores *scores_out) YOKE_MUST_USE;

/* EM (0 or 1) and F1 (0 to 1) of one answer against one gold text. */
yoke_status qa_score_pair(const char *answer, const char *gold, double *exact_out, double *f1_out) YOKE_MUST_USE;

#endif
