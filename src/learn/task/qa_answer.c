/* Post-processing: the best spans of each example over all its windows.
 *
 * The reference forms all pairs, sorts them and cuts. Here starts and ends outside the context are
 * dropped first, and a pair enters a list of the n best only when it beats the last of it, so that
 * an example costs O(windows * n_best^2) comparisons and no more memory than it keeps. */
#include "learn/task/qa_answer.h"

#include <math.h>
#include <string.h>

#include "base/core/memory.h"

/* A candidate on its way into the list of the best. */
struct span {
    float score; /* start + end, rounded to float as the reference's is: it decides the order */
    struct qa_candidate candidate;
};

struct search {
    const struct qa_data *data;
    const struct qa_features *features;
    const float *const *logits;
    const struct qa_answer_options *options;
    uint32_t *starts, *ends; /* [n_best_size] tokens, best first */
    struct span *best;       /* [n_best_size], best first */
    size_t n_best;
    struct qa_candidate *candidates; /* of all examples */
    size_t n_candidates, candidates_capacity;
};

/* The tokens of the `most` highest logits (column 0: start, 1: end), highest first, equal ones by
 * descending token: NumPy's stable argsort, reversed. Returns their number. */
static size_t pick_highest(const float *logits, uint32_t n_tokens, int column, size_t most,
                           uint32_t *tokens_out)
{
    size_t n = 0;
    for (uint32_t t = 0; t < n_tokens; t++) {
        const float value = logits[2 * t + (uint32_t)column];
        if (n == most && value < logits[2 * tokens_out[n - 1] + (uint32_t)column]) {
            continue;
        }
        size_t place = n < most ? n++ : n - 1;
        for (; place > 0 && logits[2 * tokens_out[place - 1] + (uint32_t)column] <= value;
             place--) {
            tokens_out[place] = tokens_out[place - 1];
        }
        tokens_out[place] = t;
    }
    return n;
}

/* Keeps the tokens of the context, in order; the places that others took are not given to the next.
 */
static size_t keep_context(const struct qa_feature *feature, uint32_t *tokens, size_t n)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (tokens[i] >= feature->context_begin && tokens[i] < feature->context_end) {
            tokens[n_kept++] = tokens[i];
        }
    }
    return n_kept;
}

/* Puts a span behind all of the same or a higher score. */
static void offer(struct search *search, const struct span *span)
{
    const size_t most = search->options->n_best_size;
    if (search->n_best == most && span->score <= search->best[most - 1].score) {
        return;
    }
    size_t place = search->n_best < most ? search->n_best++ : most - 1;
    for (; place > 0 && search->best[place - 1].score < span->score; place--) {
        search->best[place] = search->best[place - 1];
    }
    search->best[place] = *span;
}

static yoke_status check_finite(const struct search *search, size_t index)
{
    const struct qa_feature *feature = &search->features->features[index];
    for (uint32_t i = 0; i < 2 * feature->n_tokens; i++) {
        if (!isfinite(search->logits[index][i])) {
            return yoke_fail(
                YOKE_ERR_NUMERIC,
                "question %s: the model's logits are not finite; its weights are damaged or its "
                "training diverged",
                search->data->examples[feature->example].id);
        }
    }
    return YOKE_OK;
}

static yoke_status search_window(struct search *search, size_t index)
{
    const struct qa_feature *feature = &search->features->features[index];
    const float *logits = search->logits[index];
    const size_t most = search->options->n_best_size;
    YOKE_TRY(check_finite(search, index));
    const size_t n_starts = keep_context(
        feature, search->starts, pick_highest(logits, feature->n_tokens, 0, most, search->starts));
    const size_t n_ends = keep_context(
        feature, search->ends, pick_highest(logits, feature->n_tokens, 1, most, search->ends));
    for (size_t i = 0; i < n_starts; i++) {
        const uint32_t start = search->starts[i];
        for (size_t k = 0; k < n_ends; k++) {
            const uint32_t end = search->ends[k];
            if (end < start || end - start + 1 > search->options->max_answer_length) {
                continue;
            }
            const struct span span = {
                .score = logits[2 * start] + logits[2 * end + 1],
                .candidate = {.start_logit = logits[2 * start],
                              .end_logit = logits[2 * end + 1],
                              .begin = feature->offset_begins[start],
                              .end = feature->offset_ends[end]},
            };
            offer(search, &span);
        }
    }
    return YOKE_OK;
}

/* An entry that stands for "no answer found", in front of whatever there is. */
static void insert_empty(struct search *search)
{
    for (size_t i = search->n_best; i > 0; i--) {
        search->best[i] = search->best[i - 1];
    }
    search->best[0] = (struct span){.candidate.is_empty = true};
    search->n_best++;
}

static void set_probabilities(struct search *search)
{
    float highest = search->best[0].score;
    for (size_t i = 1; i < search->n_best; i++) {
        highest = search->best[i].score > highest ? search->best[i].score : highest;
    }
    double sum = 0.0;
    for (size_t i = 0; i < search->n_best; i++) {
        const double weight = exp((double)(search->best[i].score - highest));
        search->best[i].candidate.probability = weight;
        sum += weight;
    }
    for (size_t i = 0; i < search->n_best; i++) {
        search->best[i].candidate.probability /= sum;
    }
}

/* Windows [begin, end) are those of one example. */
static yoke_status answer_example(struct search *search, size_t begin, size_t end,
                                  struct qa_prediction *prediction)
{
    search->n_best = 0;
    for (size_t i = begin; i < end; i++) {
        YOKE_TRY(search_window(search, i));
    }
    const struct qa_candidate *first = &search->best[0].candidate;
    if (search->n_best == 0 || (search->n_best == 1 && first->begin == first->end)) {
        insert_empty(search);
    }
    set_probabilities(search);
    YOKE_TRY(MEM_GROW(search->candidates, search->candidates_capacity,
                      search->n_candidates + search->n_best));
    for (size_t i = 0; i < search->n_best; i++) {
        search->candidates[search->n_candidates++] = search->best[i].candidate;
    }
    prediction->n_candidates = search->n_best;
    return YOKE_OK;
}

static yoke_status answer_all(struct search *search, struct qa_prediction *predictions)
{
    const struct qa_features *features = search->features;
    size_t next = 0;
    for (size_t i = 0; i < search->data->n_examples; i++) {
        const size_t first = next;
        while (next < features->n_features && features->features[next].example == i) {
            next++;
        }
        YOKE_TRY(answer_example(search, first, next, &predictions[i]));
    }
    struct qa_candidate *candidates = search->candidates;
    for (size_t i = 0; i < search->data->n_examples; i++) {
        predictions[i].candidates = candidates;
        candidates += predictions[i].n_candidates;
    }
    return YOKE_OK;
}

/* An example has at most one candidate for each pair of tokens of a window: no list is ever longer.
 */
static size_t clamp_n_best(const struct qa_features *features, size_t n_best)
{
    size_t most = 1;
    size_t n_pairs = 0;
    for (size_t i = 0; i < features->n_features; i++) {
        const struct qa_feature *feature = &features->features[i];
        if (i > 0 && feature->example != features->features[i - 1].example) {
            n_pairs = 0;
        }
        n_pairs += (size_t)feature->n_tokens * feature->n_tokens;
        most = n_pairs > most ? n_pairs : most;
    }
    return n_best < most ? n_best : most;
}

yoke_status qa_answer(const struct qa_data *data, const struct qa_features *features,
                      const float *const *logits, const struct qa_answer_options *options,
                      struct qa_predictions *predictions_out)
{
    const struct qa_answer_options clamped = {
        .n_best_size = clamp_n_best(features, options->n_best_size),
        .max_answer_length = options->max_answer_length,
    };
    struct search search = {
        .data = data, .features = features, .logits = logits, .options = &clamped};
    struct qa_prediction *predictions = NULL;
    yoke_status status;
    YOKE_TRY_GOTO(MEM_NEW(predictions, data->n_examples));
    YOKE_TRY_GOTO(MEM_NEW(search.starts, clamped.n_best_size));
    YOKE_TRY_GOTO(MEM_NEW(search.ends, clamped.n_best_size));
    YOKE_TRY_GOTO(MEM_NEW(search.best, clamped.n_best_size + 1));
    YOKE_TRY_GOTO(answer_all(&search, predictions));
    *predictions_out = (struct qa_predictions){.predictions = predictions,
                                               .n_predictions = data->n_examples,
                                               .storage = search.candidates};
    predictions = NULL;
    search.candidates = NULL;
done:
    mem_free(search.starts);
    mem_free(search.ends);
    mem_free(search.best);
    mem_free(search.candidates);
    mem_free(predictions);
    return status;
}

void qa_predictions_fini(struct qa_predictions *predictions)
{
    mem_free(predictions->predictions);
    mem_free(predictions->storage);
    *predictions = (struct qa_predictions){0};
}

yoke_status qa_candidate_text(const struct qa_example *example,
                              const struct qa_candidate *candidate, struct codepoints *index,
                              struct str *text)
{
    str_clear(text);
    if (candidate->is_empty) {
        return str_append_text(text, "empty");
    }
    YOKE_TRY(codepoints_index(index, example->context, example->context_bytes));
    const size_t begin = codepoints_to_byte(index, candidate->begin);
    const size_t end = codepoints_to_byte(index, candidate->end);
    return str_append(text, example->context + begin, end > begin ? end - begin : 0);
}
