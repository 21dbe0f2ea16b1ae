/* SQuAD v1 metrics, as the official script computes them: P. Rajpurkar, J. Zhang, K. Lopyrev, P.
 * Liang, "SQuAD: 100,000+ Questions for Machine Comprehension of Text", EMNLP 2016. */
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "learn/task/qa_answer.h"
#include "learn/text/pystr.h"
#include "learn/text/unicode.h"

/* Code points that grow. */
struct codes {
    uint32_t *codes;
    size_t n, capacity;
};

/* A normalised text cut at its blanks. */
struct words {
    char **words; /* sorted; they point into the text, whose blanks have become ends */
    size_t n, capacity;
};

static yoke_status decode(const char *text, struct codes *out)
{
    const size_t n_bytes = strlen(text);
    YOKE_TRY(MEM_GROW(out->codes, out->capacity, n_bytes + 1));
    for (size_t byte = 0; byte < n_bytes;) {
        out->codes[out->n++] = unicode_decode(text, n_bytes, &byte, NULL);
    }
    return YOKE_OK;
}

static bool is_ascii_punctuation(uint32_t code)
{
    return code < 128 && code != 0 && strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", (int)code);
}

/* Lower case without ASCII punctuation. */
static yoke_status lower(const struct codes *text, struct codes *out)
{
    YOKE_TRY(MEM_GROW(out->codes, out->capacity, 2 * text->n + 1));
    for (size_t i = 0; i < text->n; i++) {
        uint32_t pair[2];
        const size_t n = pystr_lower(text->codes, text->n, i, pair);
        for (size_t k = 0; k < n; k++) {
            if (!is_ascii_punctuation(pair[k])) {
                out->codes[out->n++] = pair[k];
            }
        }
    }
    return YOKE_OK;
}

static bool equals(const uint32_t *codes, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        if (word[i] == '\0' || codes[i] != (unsigned char)word[i]) {
            return false;
        }
    }
    return word[n] == '\0';
}

/* A run of word characters that is an English article becomes a blank: the script's \b(a|an|the)\b.
 */
static void blank_articles(struct codes *text)
{
    for (size_t begin = 0; begin < text->n;) {
        size_t end = begin;
        while (end < text->n && pystr_is_word(text->codes[end])) {
            end++;
        }
        const uint32_t *run = text->codes + begin;
        if (equals(run, end - begin, "a") || equals(run, end - begin, "an") ||
            equals(run, end - begin, "the")) {
            for (size_t i = begin; i < end; i++) {
                text->codes[i] = ' ';
            }
        }
        begin = end + 1;
    }
}

/* What is left, with one blank between words and none around. */
static yoke_status join(const struct codes *text, struct str *normal)
{
    str_clear(normal);
    bool gap = false;
    for (size_t i = 0; i < text->n; i++) {
        if (pystr_is_space(text->codes[i])) {
            gap = true;
            continue;
        }
        char bytes[5] = " ";
        const size_t n_blank = gap && normal->len > 0;
        const size_t n = unicode_encode(text->codes[i], bytes + n_blank);
        YOKE_TRY(str_append(normal, bytes, n_blank + n));
        gap = false;
    }
    return YOKE_OK;
}

yoke_status qa_score_normalize(const char *text, struct str *normal)
{
    struct codes raw = {0};
    struct codes lowered = {0};
    yoke_status status;
    YOKE_TRY_GOTO(decode(text, &raw));
    YOKE_TRY_GOTO(lower(&raw, &lowered));
    blank_articles(&lowered);
    YOKE_TRY_GOTO(join(&lowered, normal));
done:
    mem_free(raw.codes);
    mem_free(lowered.codes);
    return status;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static yoke_status cut_words(struct str *normal, struct words *out)
{
    char *rest = NULL;
    for (char *word = normal->text ? strtok_r(normal->text, " ", &rest) : NULL; word;
         word = strtok_r(NULL, " ", &rest)) {
        YOKE_TRY(MEM_GROW(out->words, out->capacity, out->n + 1));
        out->words[out->n++] = word;
    }
    if (out->n) {
        qsort(out->words, out->n, sizeof *out->words, compare_words);
    }
    return YOKE_OK;
}

/* Words in common, each as often as it occurs in both. */
static size_t count_common(const struct words *a, const struct words *b)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
        const int order = strcmp(a->words[i], b->words[k]);
        n += order == 0;
        i += order <= 0;
        k += order >= 0;
    }
    return n;
}

static double f1_of(const struct words *answer, const struct words *gold)
{
    const size_t n_common = count_common(answer, gold);
    if (n_common == 0) {
        return 0.0;
    }
    const double precision = (double)n_common / (double)answer->n;
    const double recall = (double)n_common / (double)gold->n;
    return 2 * precision * recall / (precision + recall);
}

yoke_status qa_score_pair(const char *answer, const char *gold, double *exact_out, double *f1_out)
{
    struct str texts[2] = {{0}, {0}};
    struct words words[2] = {{0}, {0}};
    yoke_status status;
    YOKE_TRY_GOTO(qa_score_normalize(answer, &texts[0]));
    YOKE_TRY_GOTO(qa_score_normalize(gold, &texts[1]));
    const bool exact = strcmp(str_text(&texts[0]), str_text(&texts[1])) == 0;
    YOKE_TRY_GOTO(cut_words(&texts[0], &words[0]));
    YOKE_TRY_GOTO(cut_words(&texts[1], &words[1]));
    *exact_out = exact;
    *f1_out = f1_of(&words[0], &words[1]);
done:
    for (int i = 0; i < 2; i++) {
        str_fini(&texts[i]);
        mem_free(words[i].words);
    }
    return status;
}

/* The best over all gold answers, each metric on its own. */
static yoke_status score_example(const struct qa_example *example, const char *answer,
                                 double *exact_out, double *f1_out)
{
    double best_exact = 0.0;
    double best_f1 = 0.0;
    for (size_t i = 0; i < example->n_answers; i++) {
        double exact, f1;
        YOKE_TRY(qa_score_pair(answer, example->answers[i].text, &exact, &f1));
        best_exact = exact > best_exact ? exact : best_exact;
        best_f1 = f1 > best_f1 ? f1 : best_f1;
    }
    *exact_out = best_exact;
    *f1_out = best_f1;
    return YOKE_OK;
}

yoke_status qa_score(const struct qa_data *data, const struct qa_predictions *predictions,
                     struct qa_scores *scores_out)
{
    struct qa_scores scores = {0};
    struct codepoints index = {0};
    struct str text = {0};
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < data->n_examples; i++) {
        const struct qa_example *example = &data->examples[i];
        double exact, f1;
        if (example->n_answers == 0) {
            continue;
        }
        YOKE_TRY_GOTO(
            qa_candidate_text(example, &predictions->predictions[i].candidates[0], &index, &text));
        YOKE_TRY_GOTO(score_example(example, str_text(&text), &exact, &f1));
        scores.exact_match += exact;
        scores.f1 += f1;
        scores.n_scored++;
    }
    if (scores.n_scored) {
        scores.exact_match = 100.0 * scores.exact_match / (double)scores.n_scored;
        scores.f1 = 100.0 * scores.f1 / (double)scores.n_scored;
    }
    *scores_out = scores;
done:
    codepoints_fini(&index);
    str_fini(&text);
    return status;
}
