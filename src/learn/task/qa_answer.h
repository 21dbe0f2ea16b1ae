/* From logits to answers, and from answers to scores. */
#ifndef LEARN_TASK_QA_ANSWER_H
#define LEARN_TASK_QA_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"
#include "base/core/str.h"
#include "learn/task/codepoints.h"
#include "learn/task/qa_data.h"
#include "learn/task/qa_features.h"

struct qa_candidate {
    float start_logit, end_logit;
    double probability;
    uint32_t begin, end; /* code points of the context */
    bool is_empty;       /* the entry {"text": "empty"}, which stands for no answer */
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

/* logits: one pointer per feature to its [n_tokens,2] (start, end).
 *
 * Candidates of a window are all pairs of its n_best_size highest starts and ends that lie in the
 * context, in order, and at most max_answer_length tokens apart, both counted; their score is the
 * sum of the logits in float. An example keeps its n_best_size best. Order, as the reference has
 * it: equal logits by descending token, equal scores by window, then start, then end. An example
 * without any candidate (or without windows) gets the "empty" entry. Probabilities are the softmax
 * over the kept scores. YOKE_ERR_NUMERIC when a logit is not finite. */
yoke_status qa_answer(const struct qa_data *data, const struct qa_features *features,
                      const float *const *logits, const struct qa_answer_options *options,
                      struct qa_predictions *predictions_out) YOKE_MUST_USE;
void qa_predictions_fini(struct qa_predictions *predictions);

/* Replaces *text by what the candidate says: "empty" or the context's text. `index` is scratch, {0}
 * at first, best kept from call to call. */
yoke_status qa_candidate_text(const struct qa_example *example,
                              const struct qa_candidate *candidate, struct codepoints *index,
                              struct str *text) YOKE_MUST_USE;

/* PREFIXpredictions.json and PREFIXnbest_predictions.json in `folder`, as the reference writes
 * them. */
yoke_status qa_predictions_write(const struct qa_data *data,
                                 const struct qa_predictions *predictions, const char *folder,
                                 const char *prefix) YOKE_MUST_USE;

/* `text` in the form in which the metric compares: lower case, no ASCII punctuation, no English
 * articles, single blanks. Replaces *normal. */
yoke_status qa_score_normalize(const char *text, struct str *normal) YOKE_MUST_USE;

struct qa_scores {
    double exact_match, f1; /* percent */
    size_t n_scored;        /* examples with at least one gold answer */
};

/* SQuAD v1 metrics. Examples without gold answers are left out: n_scored is smaller than the
 * number of examples. */
yoke_status qa_score(const struct qa_data *data, const struct qa_predictions *predictions,
                     struct qa_scores *scores_out) YOKE_MUST_USE;

/* EM (0 or 1) and F1 (0 to 1) of one answer against one gold text. */
yoke_status qa_score_pair(const char *answer, const char *gold, double *exact_out,
                          double *f1_out) YOKE_MUST_USE;

#endif
