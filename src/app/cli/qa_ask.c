/* The question goes the way of an evaluation with one example, and its best candidate is shown. */
#include "app/cli/qa_ask.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "base/term/terminal.h"
#include "learn/task/qa_answer.h"
#include "learn/train/qa_logits.h"

static const char white_space[] = " \t\n\r\f\v";

static yoke_status read_standard_input(struct str *text)
{
    char block[65536];
    for (;;) {
        const ssize_t n = read(STDIN_FILENO, block, sizeof block);
        if (n == 0) {
            return YOKE_OK;
        }
        if (n < 0 && errno != EINTR) {
            return yoke_fail(YOKE_ERR_IO, "cannot read the context from standard input: %m");
        }
        if (n > 0) {
            YOKE_TRY(str_append(text, block, (size_t)n));
        }
    }
}

static yoke_status read_context(const struct qa_options *o, struct str *text)
{
    if (o->context) {
        return str_append_text(text, o->context);
    }
    if (strcmp(o->context_file, "-") == 0) {
        return read_standard_input(text);
    }
    struct file_map map;
    YOKE_TRY(file_map_open(o->context_file, &map));
    const yoke_status status = str_append(text, (const char *)map.data, map.size_bytes);
    file_map_close(&map);
    return status;
}

/* Bytes of the first `n` code points; a continuation byte (10xxxxxx) begins none. */
static size_t byte_of_codepoint(const char *text, size_t n)
{
    size_t i = 0;
    while (text[i]) {
        if (((unsigned char)text[i] & 0xC0) != 0x80 && n-- == 0) {
            break;
        }
        i++;
    }
    return i;
}

yoke_status qa_ask_mark(const char *context, size_t begin, size_t end, bool colour,
                        struct str *text)
{
    YOKE_TRY(str_append(text, context, begin));
    YOKE_TRY(str_append_text(text, colour ? "\033[1;32m" : "«"));
    YOKE_TRY(str_append(text, context + begin, end - begin));
    YOKE_TRY(str_append_text(text, colour ? "\033[0m" : "»"));
    return str_append_text(text, context + end);
}

/* The reference strips a question on its left. */
static const char *strip_left(const char *question)
{
    return question + strspn(question, white_space);
}

/* A file ends with a line break that is no part of the text. */
static void strip_right(struct str *text)
{
    while (text->len > 0 && strchr(white_space, text->text[text->len - 1])) {
        text->text[--text->len] = '\0';
    }
}

static yoke_status print_answer(const struct qa_options *o, const char *context,
                                const struct qa_prediction *prediction)
{
    const struct qa_candidate *best = prediction->n_candidates ? &prediction->candidates[0] : NULL;
    term_print("Question:    %s\n", strip_left(o->answer));
    if (!best || best->is_empty) {
        term_print("Context:     %s\nAnswer:      (none found)\n", context);
        return YOKE_OK;
    }
    const size_t begin = byte_of_codepoint(context, best->begin);
    const size_t end = byte_of_codepoint(context, best->end);
    struct str marked = {0};
    const yoke_status status = qa_ask_mark(context, begin, end, term_out_has_colour(), &marked);
    if (status == YOKE_OK) {
        term_print("Context:     %s\nAnswer:      %.*s\nProbability: %.1f %%\n", str_text(&marked),
                   (int)(end - begin), context + begin, 100.0 * best->probability);
    }
    str_fini(&marked);
    return status;
}

static yoke_status compute_logits(const struct qa_session *session,
                                  const struct qa_features *features, struct qa_logits *logits)
{
    const struct qa_logits_job job = {
        .comm = session->comm,
        .compute = &session->compute,
        .config = &session->config,
        .params = &session->params,
        .values = session->values,
        .features = features,
        .batch_size = (size_t)session->command->train.per_device_eval_batch_size,
    };
    return qa_logits_compute(&job, logits);
}

static yoke_status answer(struct qa_session *session, const struct qa_data *data,
                          const char *context)
{
    const struct qa_options *o = &session->command->qa;
    const struct qa_answer_options options = {.n_best_size = (size_t)o->n_best_size,
                                              .max_answer_length = (size_t)o->max_answer_length};
    struct qa_features features = {0};
    struct qa_logits logits = {0};
    struct qa_predictions predictions = {0};
    yoke_status status;
    session->shows_progress = false;
    YOKE_TRY_GOTO(qa_session_features(session, data, false, &features));
    YOKE_TRY_GOTO(qa_session_load(session, o->model_name_or_path));
    YOKE_TRY_GOTO(compute_logits(session, &features, &logits));
    YOKE_TRY_GOTO(qa_answer(data, &features, logits.features, &options, &predictions));
    if (session->is_first_rank) {
        status = print_answer(o, context, &predictions.predictions[0]);
    }
done:
    qa_predictions_fini(&predictions);
    qa_logits_fini(&logits);
    qa_features_fini(&features);
    return status;
}

yoke_status qa_ask(struct qa_session *session)
{
    const char *question = strip_left(session->command->qa.answer);
    struct str context = {0};
    yoke_status status = read_context(&session->command->qa, &context);
    strip_right(&context);
    if (status == YOKE_OK && context.len == 0) {
        status =
            yoke_fail(YOKE_ERR_INVALID, "the context is empty; there is nothing to answer from");
    }
    if (status == YOKE_OK) {
        struct qa_example example = {
            .id = "question",
            .question = question,
            .context = str_text(&context),
            .question_bytes = strlen(question),
            .context_bytes = strlen(str_text(&context)),
        };
        const struct qa_data data = {.examples = &example, .n_examples = 1};
        status = answer(session, &data, str_text(&context));
    }
    str_fini(&context);
    return status;
}
