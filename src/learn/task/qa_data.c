/* Reading question-answering files.
 *
 * Three layouts are in use: the official one (articles of paragraphs of questions), a flat list of
 * rows below "data", and one row a line. Rows are told apart by what they hold, so that every
 * mixture reads alike: a row with "paragraphs" is an article, one with "context" a question.
 * Strings stay in the parsed JSON, which the data set keeps; questions of a paragraph share its
 * context's address, by which later stages see that they need not tokenize it again. */
#include "learn/task/qa_data.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/format/json.h"
#include "learn/task/codepoints.h"
#include "learn/text/pystr.h"
#include "learn/text/unicode.h"

/* What the examples point into. */
struct qa_data_storage {
    json_t **roots;
    size_t n_roots, roots_capacity;
    struct qa_answer *answers;
    size_t n_answers, answers_capacity;
};

struct reader {
    const char *path;
    size_t limit;
    struct qa_data data;
    size_t examples_capacity;
    struct qa_data_storage *storage;
    struct codepoints index; /* of the context read last */
};

/* How much of a text an error shows, in code points. */
enum { N_SHOWN = 40 };

/* The beginning of a text for "%.*s". */
static int shown_bytes(const char *text, size_t n_bytes)
{
    size_t byte = 0;
    for (size_t i = 0; i < N_SHOWN && byte < n_bytes; i++) {
        (void)unicode_decode(text, n_bytes, &byte, NULL);
    }
    return (int)byte;
}

/* Where `text` stands in the indexed context, in code points, nearest to `wanted`; false: nowhere.
 */
static bool find_nearest(const struct codepoints *index, const char *text, size_t wanted,
                         size_t *start_out)
{
    bool found = false;
    size_t start = 0;
    const char *from = index->text;
    for (const char *at = *text ? strstr(from, text) : NULL; at; at = strstr(at + 1, text)) {
        start += codepoints_count(from, (size_t)(at - from));
        from = at;
        const size_t gap = start > wanted ? start - wanted : wanted - start;
        const size_t best = *start_out > wanted ? *start_out - wanted : wanted - *start_out;
        if (!found || gap < best) {
            *start_out = start;
        }
        found = true;
        if (start >= wanted) {
            break;
        }
    }
    return found;
}

static yoke_status fail_misplaced(const struct codepoints *index, const struct qa_answer *answer)
{
    const size_t start = answer->start;
    const size_t n_text = strlen(answer->text);
    const size_t begin = codepoints_to_byte(index, start);
    const size_t end = codepoints_to_byte(index, start + answer->n_codepoints);
    const char *there = index->text + begin;
    const bool counts_bytes = start < index->n_bytes && index->n_bytes - start >= n_text &&
                              memcmp(index->text + start, answer->text, n_text) == 0;
    size_t found = 0;
    if (!find_nearest(index, answer->text, start, &found)) {
        return yoke_fail(
            YOKE_ERR_FORMAT,
            "the answer '%.*s' stands nowhere in the context (at answer_start %zu: '%.*s'); "
            "correct the text or remove the question",
            shown_bytes(answer->text, n_text), answer->text, start, shown_bytes(there, end - begin),
            there);
    }
    return yoke_fail(
        YOKE_ERR_FORMAT,
        "the answer '%.*s' is not at answer_start %zu (there: '%.*s') but at %zu; correct "
        "answer_start%s",
        shown_bytes(answer->text, n_text), answer->text, start, shown_bytes(there, end - begin),
        there, found, counts_bytes ? ", which counts characters (code points), not bytes" : "");
}

static yoke_status check_answer(const struct codepoints *index, const struct qa_answer *answer)
{
    const size_t n_text = strlen(answer->text);
    const size_t begin = codepoints_to_byte(index, answer->start);
    const bool inside = answer->start <= index->n && index->n_bytes - begin >= n_text;
    if (!inside || memcmp(index->text + begin, answer->text, n_text) != 0) {
        return fail_misplaced(index, answer);
    }
    return YOKE_OK;
}

static yoke_status add_answer(struct reader *reader, const json_t *text, const json_t *start)
{
    if (!json_is_string(text)) {
        return yoke_fail(YOKE_ERR_FORMAT, "an answer has no \"text\"");
    }
    const json_int_t number = json_is_integer(start) ? json_integer_value(start) : -1;
    if (number < 0 || number > UINT32_MAX) {
        return yoke_fail(
            YOKE_ERR_FORMAT,
            "the answer '%.*s' has no \"answer_start\" that is a whole number from 0 to %" PRIu32,
            shown_bytes(json_string_value(text), json_string_length(text)), json_string_value(text),
            UINT32_MAX);
    }
    const struct qa_answer answer = {
        .text = json_string_value(text),
        .start = (uint32_t)number,
        .n_codepoints =
            (uint32_t)codepoints_count(json_string_value(text), json_string_length(text)),
    };
    YOKE_TRY(check_answer(&reader->index, &answer));
    struct qa_data_storage *storage = reader->storage;
    YOKE_TRY(MEM_GROW(storage->answers, storage->answers_capacity, storage->n_answers + 1));
    storage->answers[storage->n_answers++] = answer;
    return YOKE_OK;
}

/* "answers": a list of {text, answer_start}, or {text: [...], answer_start: [...]}; nothing or null
 * when the question has none. */
static yoke_status add_answers(struct reader *reader, const json_t *answers)
{
    if (json_is_array(answers)) {
        for (size_t i = 0; i < json_array_size(answers); i++) {
            const json_t *answer = json_array_get(answers, i);
            YOKE_TRY(add_answer(reader, json_object_get(answer, "text"),
                                json_object_get(answer, "answer_start")));
        }
        return YOKE_OK;
    }
    if (!answers || json_is_null(answers)) {
        return YOKE_OK;
    }
    const json_t *texts = json_object_get(answers, "text");
    const json_t *starts = json_object_get(answers, "answer_start");
    if (!json_is_array(texts) || !json_is_array(starts) ||
        json_array_size(texts) != json_array_size(starts)) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "\"answers\" must be a list of {\"text\", \"answer_start\"} or an "
                         "object of two lists \"text\" and \"answer_start\" of one length");
    }
    for (size_t i = 0; i < json_array_size(texts); i++) {
        YOKE_TRY(add_answer(reader, json_array_get(texts, i), json_array_get(starts, i)));
    }
    return YOKE_OK;
}

/* Numbers serve as ids, too; the row then gets the number's text. */
static yoke_status read_id(json_t *row, const char **id_out)
{
    json_t *id = json_object_get(row, "id");
    if (json_is_integer(id)) {
        char text[32];
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
        if (json_object_set_new(row, "id", json_string(text)) != 0) {
            return yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for an id");
        }
        id = json_object_get(row, "id");
    }
    if (!json_is_string(id)) {
        return yoke_fail(YOKE_ERR_FORMAT, "\"id\" is %s",
                         id ? "neither a text nor a number" : "missing");
    }
    *id_out = json_string_value(id);
    return YOKE_OK;
}

static yoke_status read_text(const json_t *row, const char *key, const char **text_out,
                             size_t *n_bytes_out)
{
    const json_t *text = json_object_get(row, key);
    if (!json_is_string(text)) {
        return yoke_fail(YOKE_ERR_FORMAT, "\"%s\" is %s", key, text ? "no text" : "missing");
    }
    *text_out = json_string_value(text);
    *n_bytes_out = json_string_length(text);
    return YOKE_OK;
}

/* `holder` has the context: the row itself or its paragraph. */
static yoke_status read_example(struct reader *reader, json_t *row, const json_t *holder,
                                struct qa_example *example)
{
    YOKE_TRY(read_id(row, &example->id));
    YOKE_TRY(read_text(row, "question", &example->question, &example->question_bytes));
    YOKE_TRY(read_text(holder, "context", &example->context, &example->context_bytes));
    const size_t n_space = pystr_leading_space(example->question, example->question_bytes);
    example->question += n_space;
    example->question_bytes -= n_space;
    YOKE_TRY(codepoints_index(&reader->index, example->context, example->context_bytes));
    const size_t n_before = reader->storage->n_answers;
    if (!json_is_true(json_object_get(row, "is_impossible"))) {
        YOKE_TRY(add_answers(reader, json_object_get(row, "answers")));
    }
    example->n_answers = reader->storage->n_answers - n_before;
    return YOKE_OK;
}

static bool is_full(const struct reader *reader)
{
    return reader->data.n_examples >= reader->limit;
}

static yoke_status add_example(struct reader *reader, json_t *row, const json_t *holder)
{
    if (is_full(reader)) {
        return YOKE_OK;
    }
    struct qa_data *data = &reader->data;
    struct qa_example example = {0};
    const yoke_status status = read_example(reader, row, holder, &example);
    if (status < 0) {
        return example.id ? yoke_fail_prefix(status, "%s: question %s", reader->path, example.id)
                          : yoke_fail_prefix(status, "%s: question number %zu", reader->path,
                                             data->n_examples + 1);
    }
    YOKE_TRY(MEM_GROW(data->examples, reader->examples_capacity, data->n_examples + 1));
    data->examples[data->n_examples++] = example;
    return YOKE_OK;
}

static yoke_status read_article(struct reader *reader, const json_t *paragraphs)
{
    for (size_t i = 0; i < json_array_size(paragraphs); i++) {
        const json_t *paragraph = json_array_get(paragraphs, i);
        const json_t *questions = json_object_get(paragraph, "qas");
        if (!json_is_array(questions)) {
            return yoke_fail(YOKE_ERR_FORMAT,
                             "%s: the paragraph behind question number %zu has no list \"qas\"",
                             reader->path, reader->data.n_examples);
        }
        for (size_t k = 0; k < json_array_size(questions); k++) {
            YOKE_TRY(add_example(reader, json_array_get(questions, k), paragraph));
        }
    }
    return YOKE_OK;
}

static yoke_status read_row(struct reader *reader, json_t *row)
{
    const json_t *paragraphs = json_object_get(row, "paragraphs");
    return json_is_array(paragraphs) ? read_article(reader, paragraphs)
                                     : add_example(reader, row, row);
}

/* `json` goes to the storage, or is released. */
static yoke_status keep_root(struct reader *reader, json_t *json)
{
    struct qa_data_storage *storage = reader->storage;
    const yoke_status status =
        MEM_GROW(storage->roots, storage->roots_capacity, storage->n_roots + 1);
    if (status < 0) {
        json_decref(json);
        return status;
    }
    storage->roots[storage->n_roots++] = json;
    return YOKE_OK;
}

static yoke_status read_document(struct reader *reader, const char *text, size_t n_bytes)
{
    json_t *root;
    YOKE_TRY(json_read_text(text, n_bytes, reader->path, &root));
    YOKE_TRY(keep_root(reader, root));
    json_t *rows = json_is_array(root) ? root : json_object_get(root, "data");
    if (json_is_array(rows)) {
        for (size_t i = 0; i < json_array_size(rows); i++) {
            YOKE_TRY(read_row(reader, json_array_get(rows, i)));
        }
        return YOKE_OK;
    }
    if (!json_object_get(root, "paragraphs") && !json_object_get(root, "context")) {
        return yoke_fail(
            YOKE_ERR_FORMAT,
            "%s has no questions: expected {\"data\": [...]} with SQuAD v1.1 articles or with rows "
            "of id, question, context and answers, or one such row a line",
            reader->path);
    }
    return read_row(reader, root);
}

static bool is_blank(const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++) {
        if (!strchr(" \t\r\n", text[i]) || text[i] == '\0') {
            return false;
        }
    }
    return true;
}

static size_t line_bytes(const char *text, size_t n_bytes)
{
    const char *end = memchr(text, '\n', n_bytes);
    return end ? (size_t)(end - text) + 1 : n_bytes;
}

/* JSON lines: the first line is an object, and there is more. */
static bool is_json_lines(const char *text, size_t n_bytes)
{
    const size_t n_line = line_bytes(text, n_bytes);
    if (is_blank(text + n_line, n_bytes - n_line) || !memchr(text, '}', n_line)) {
        return false;
    }
    json_t *json = NULL;
    const bool is_object =
        json_read_text(text, n_line, "", &json) == YOKE_OK && json_is_object(json);
    json_decref(json);
    return is_object;
}

static yoke_status read_line(struct reader *reader, const char *text, size_t n_bytes, size_t number)
{
    struct str name = {0};
    json_t *row = NULL;
    yoke_status status = str_printf(&name, "line %zu of %s", number, reader->path);
    if (status == YOKE_OK) {
        status = json_read_text(text, n_bytes, name.text, &row);
    }
    str_fini(&name);
    YOKE_TRY(status);
    YOKE_TRY(keep_root(reader, row));
    return read_row(reader, row);
}

static yoke_status read_lines(struct reader *reader, const char *text, size_t n_bytes)
{
    for (size_t number = 1; n_bytes > 0 && !is_full(reader); number++) {
        const size_t n_line = line_bytes(text, n_bytes);
        if (!is_blank(text, n_line)) {
            YOKE_TRY(read_line(reader, text, n_line, number));
        }
        text += n_line;
        n_bytes -= n_line;
    }
    return YOKE_OK;
}

static yoke_status read_file(struct reader *reader)
{
    struct file_map map;
    YOKE_TRY(file_map_open(reader->path, &map));
    const char *text = (const char *)map.data;
    const yoke_status status = is_json_lines(text, map.size_bytes)
                                   ? read_lines(reader, text, map.size_bytes)
                                   : read_document(reader, text, map.size_bytes);
    file_map_close(&map);
    return status;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Predictions are filed by id: two questions of one id would be one. */
static yoke_status check_ids(const struct reader *reader)
{
    const size_t n = reader->data.n_examples;
    const char **ids;
    YOKE_TRY(MEM_NEW(ids, n));
    for (size_t i = 0; i < n; i++) {
        ids[i] = reader->data.examples[i].id;
    }
    qsort(ids, n, sizeof *ids, compare_ids);
    yoke_status status = YOKE_OK;
    for (size_t i = 1; i < n && status == YOKE_OK; i++) {
        if (strcmp(ids[i - 1], ids[i]) == 0) {
            status =
                yoke_fail(YOKE_ERR_FORMAT, "%s: question %s: the id occurs twice; ids must differ",
                          reader->path, ids[i]);
        }
    }
    mem_free(ids);
    return status;
}

/* Answers lie in the order of the examples, in an array that no longer moves. */
static void point_to_answers(struct reader *reader)
{
    struct qa_answer *next = reader->storage->answers;
    for (size_t i = 0; i < reader->data.n_examples; i++) {
        struct qa_example *example = &reader->data.examples[i];
        example->answers = example->n_answers ? next : NULL;
        next += example->n_answers;
    }
}

yoke_status qa_data_read(const char *path, size_t limit, struct qa_data *data_out)
{
    struct reader reader = {.path = path, .limit = limit};
    yoke_status status;
    YOKE_TRY_GOTO(MEM_NEW(reader.storage, 1));
    reader.data.storage = reader.storage;
    YOKE_TRY_GOTO(read_file(&reader));
    if (reader.data.n_examples == 0) {
        status = yoke_fail(YOKE_ERR_FORMAT, "%s has not a single question", path);
        goto done;
    }
    YOKE_TRY_GOTO(check_ids(&reader));
    point_to_answers(&reader);
    *data_out = reader.data;
done:
    codepoints_fini(&reader.index);
    if (status < 0) {
        qa_data_fini(&reader.data);
    }
    return status;
}

void qa_data_fini(struct qa_data *data)
{
    struct qa_data_storage *storage = data->storage;
    if (storage) {
        for (size_t i = 0; i < storage->n_roots; i++) {
            json_decref(storage->roots[i]);
        }
        mem_free(storage->roots);
        mem_free(storage->answers);
        mem_free(storage);
    }
    mem_free(data->examples);
    *data = (struct qa_data){0};
}
