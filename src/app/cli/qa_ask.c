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
#include "learn/text/pystr.h"

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

yoke_status qa_ask_mark(const char *context, size_t begin, size_t end, bool colour,
                        struct str *text)
{
    YOKE_TRY(str_append(text, context, begin));
    YOKE_TRY(str_append_text(text, colour ? "\033[1;32m" : "«"));
    YOKE_TRY(str_append(text, context + begin, end - begin));
    YOKE_TRY(str_append_text(text, colour ? "\033[0m" : "»"));
    return str_append_text(text, context + end);
}

/* A file ends with a line break that is no part of the text. */
static void strip_right(struct str *text)
{
    while (text->len > 0 && strchr(" \t\n\r\f\v", text->text[text->len - 1])) {
        text->text[--text->len] = '\0';
    }
}

static yoke_status print_answer(const struct qa_example *example,
                                const struct qa_prediction *prediction)
{
    const char *context = example->context;
    const struct qa_candidate *best = &prediction->candidates[0];
    term_print("Question:    %s\n", example->question);
    if (best->is_empty) {
        term_print("Context:     %s\nAnswer:      (none found)\n", context);
        return YOKE_OK;
    }
    struct codepoints index = {0};
    struct str marked = {0};
    yoke_status status;
    YOKE_TRY_GOTO(codepoints_index(&index, context, example->context_bytes));
    const size_t begin = codepoints_to_byte(&index, best->begin);
    const size_t end = codepoints_to_byte(&index, best->end);
    YOKE_TRY_GOTO(qa_ask_mark(context, begin, end, term_out_has_colour(), &marked));
    term_print("Context:     %s\nAnswer:      %.*s\nProbability: %.1f %%\n", str_text(&marked),
               (int)(end - begin), context + begin, 100.0 * best->probability);
done:
    codepoints_fini(&index);
    str_fini(&marked);
    return status;
}

static yoke_status answer(struct qa_session *session, const struct qa_data *data)
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
    YOKE_TRY_GOTO(qa_session_logits(session, &features, &logits));
    YOKE_TRY_GOTO(qa_answer(data, &features, logits.features, &options, &predictions));
    if (session->is_first_rank) {
        status = print_answer(&data->examples[0], &predictions.predictions[0]);
    }
done:
    qa_predictions_fini(&predictions);
    qa_logits_fini(&logits);
    qa_features_fini(&features);
    return status;
}

yoke_status qa_ask(struct qa_session *session)
{
    const char *question = session->command->qa.answer;
    struct str context = {0};
    yoke_status status = read_context(&session->command->qa, &context);
    strip_right(&context);
    if (status == YOKE_OK && context.len == 0) {
        status =
            yoke_fail(YOKE_ERR_INVALID, "the context is empty; there is nothing to answer from");
    }
    if (status == YOKE_OK && strlen(str_text(&context)) < context.len) {
        status = yoke_fail(YOKE_ERR_FORMAT,
                           "the context has a NUL byte at %zu; give a text file, in UTF-8",
                           strlen(str_text(&context)));
    }
    question += pystr_leading_space(question, strlen(question)); /* as in a file of questions */
    if (status == YOKE_OK) {
        struct qa_example example = {
            .id = "of --answer",
            .question = question,
            .context = str_text(&context),
            .question_bytes = strlen(question),
            .context_bytes = context.len,
        };
        const struct qa_data data = {.examples = &example, .n_examples = 1};
        status = answer(session, &data);
    }
    str_fini(&context);
    return status;
}
