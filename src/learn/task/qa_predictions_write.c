/* predictions.json and nbest_predictions.json, byte for byte in Python's json.dumps(..., indent=4).
 *
 * An n-best file of a full validation set has hundreds of thousands of entries: they are written as
 * they come and never held as a tree. */
#include "base/core/file.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/format/json.h"
#include "learn/task/qa_answer.h"

enum { FLUSH_BYTES = 1 << 16 };

struct output {
    const struct qa_data *data;
    const struct qa_predictions *predictions;
    struct file_writer writer;
    struct str pending;      /* what the writer has not got yet */
    struct str text;         /* of the candidate at hand */
    struct codepoints index; /* of its context */
};

static yoke_status append_candidate_text(struct output *out, size_t example,
                                         const struct qa_candidate *candidate)
{
    YOKE_TRY(qa_candidate_text(&out->data->examples[example], candidate, &out->index, &out->text));
    return json_append_string(&out->pending, str_text(&out->text));
}

static yoke_status append_number(struct output *out, const char *key, double value)
{
    char number[32];
    return str_printf(&out->pending, "            \"%s\": %s", key,
                      json_format_double(value, number));
}

static yoke_status append_named_text(struct output *out, size_t example,
                                     const struct qa_candidate *candidate)
{
    YOKE_TRY(str_append_text(&out->pending, "            \"text\": "));
    return append_candidate_text(out, example, candidate);
}

/* The inserted entry has its text in front: the reference builds it in another order. */
static yoke_status append_candidate(struct output *out, size_t example,
                                    const struct qa_candidate *candidate)
{
    struct str *pending = &out->pending;
    YOKE_TRY(str_append_text(pending, "        {\n"));
    if (candidate->is_empty) {
        YOKE_TRY(append_named_text(out, example, candidate));
        YOKE_TRY(str_append_text(pending, ",\n"));
    }
    YOKE_TRY(append_number(out, "start_logit", candidate->start_logit));
    YOKE_TRY(str_append_text(pending, ",\n"));
    YOKE_TRY(append_number(out, "end_logit", candidate->end_logit));
    YOKE_TRY(str_append_text(pending, ",\n"));
    if (!candidate->is_empty) {
        YOKE_TRY(append_named_text(out, example, candidate));
        YOKE_TRY(str_append_text(pending, ",\n"));
    }
    YOKE_TRY(append_number(out, "probability", candidate->probability));
    return str_append_text(pending, "\n        }");
}

static yoke_status append_best(struct output *out, size_t example)
{
    return append_candidate_text(out, example,
                                 &out->predictions->predictions[example].candidates[0]);
}

static yoke_status append_n_best(struct output *out, size_t example)
{
    const struct qa_prediction *prediction = &out->predictions->predictions[example];
    YOKE_TRY(str_append_text(&out->pending, "[\n"));
    for (size_t i = 0; i < prediction->n_candidates; i++) {
        YOKE_TRY(str_append_text(&out->pending, i ? ",\n" : ""));
        YOKE_TRY(append_candidate(out, example, &prediction->candidates[i]));
    }
    return str_append_text(&out->pending, "\n    ]");
}

static yoke_status flush(struct output *out, size_t least)
{
    if (out->pending.len < least) {
        return YOKE_OK;
    }
    YOKE_TRY(file_writer_write(&out->writer, out->pending.text, out->pending.len));
    str_clear(&out->pending);
    return YOKE_OK;
}

/* {"ID": what `append` says of the example, ...}. Data sets are never empty. */
static yoke_status write_object(struct output *out, const char *path,
                                yoke_status (*append)(struct output *out, size_t example))
{
    YOKE_TRY(file_writer_open(&out->writer, path));
    YOKE_TRY(str_append_text(&out->pending, "{\n"));
    for (size_t i = 0; i < out->predictions->n_predictions; i++) {
        YOKE_TRY(str_append_text(&out->pending, i ? ",\n    " : "    "));
        YOKE_TRY(json_append_string(&out->pending, out->data->examples[i].id));
        YOKE_TRY(str_append_text(&out->pending, ": "));
        YOKE_TRY(append(out, i));
        YOKE_TRY(flush(out, FLUSH_BYTES));
    }
    YOKE_TRY(str_append_text(&out->pending, "\n}\n"));
    YOKE_TRY(flush(out, 0));
    return file_writer_commit(&out->writer);
}

static yoke_status write_file(const struct qa_data *data, const struct qa_predictions *predictions,
                              const char *folder, const char *prefix, const char *name,
                              yoke_status (*append)(struct output *out, size_t example))
{
    struct output out = {.data = data, .predictions = predictions};
    struct str path = {0};
    yoke_status status;
    YOKE_TRY_GOTO(str_printf(&path, "%s/%s%s", folder, prefix, name));
    YOKE_TRY_GOTO(write_object(&out, path.text, append));
done:
    file_writer_abort(&out.writer);
    codepoints_fini(&out.index);
    str_fini(&out.pending);
    str_fini(&out.text);
    str_fini(&path);
    return status;
}

yoke_status qa_predictions_write(const struct qa_data *data,
                                 const struct qa_predictions *predictions, const char *folder,
                                 const char *prefix)
{
    YOKE_TRY(write_file(data, predictions, folder, prefix, "predictions.json", append_best));
    return write_file(data, predictions, folder, prefix, "nbest_predictions.json", append_n_best);
}
