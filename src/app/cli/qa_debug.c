/* Files for comparison; written whole or not at all. */
#include "app/cli/qa_debug.h"

#include "base/core/file.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/format/json.h"
#include "learn/format/safetensors.h"

static yoke_status append_numbers(struct str *line, const char *key, const uint32_t *ids,
                                  const uint8_t *types, size_t n)
{
    YOKE_TRY(str_printf(line, ", \"%s\": [", key));
    for (size_t i = 0; i < n; i++) {
        YOKE_TRY(str_printf(line, i ? ", %u" : "%u", ids ? ids[i] : types[i]));
    }
    return str_append_text(line, "]");
}

static yoke_status append_offsets(struct str *line, const struct qa_feature *f)
{
    YOKE_TRY(str_append_text(line, ", \"offsets\": ["));
    for (uint32_t i = 0; i < f->n_tokens; i++) {
        const char *separator = i ? ", " : "";
        if (i >= f->context_begin && i < f->context_end) {
            YOKE_TRY(
                str_printf(line, "%s[%u, %u]", separator, f->offset_begins[i], f->offset_ends[i]));
        } else {
            YOKE_TRY(str_printf(line, "%snull", separator));
        }
    }
    return str_append_text(line, "]");
}

static yoke_status append_feature(struct str *line, const struct qa_data *data,
                                  const struct qa_feature *f)
{
    YOKE_TRY(str_append_text(line, "{\"example_id\": "));
    YOKE_TRY(json_append_string(line, data->examples[f->example].id));
    YOKE_TRY(append_numbers(line, "input_ids", f->ids, NULL, f->n_tokens));
    YOKE_TRY(append_numbers(line, "token_type_ids", NULL, f->types, f->n_tokens));
    YOKE_TRY(append_offsets(line, f));
    return str_printf(line, ", \"start_positions\": %u, \"end_positions\": %u}\n", f->start,
                      f->end);
}

yoke_status qa_debug_save_features(const char *path, const struct qa_data *data,
                                   const struct qa_features *features)
{
    struct file_writer writer;
    struct str line = {0};
    YOKE_TRY(file_writer_open(&writer, path));
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < features->n_features; i++) {
        str_clear(&line);
        YOKE_TRY_GOTO(append_feature(&line, data, &features->features[i]));
        YOKE_TRY_GOTO(file_writer_write(&writer, line.text, line.len));
    }
    status = file_writer_commit(&writer);
done:
    file_writer_abort(&writer);
    str_fini(&line);
    return status;
}

/* Takes the pairs of all features apart: starts[n_tokens], ends[n_tokens], offsets[n_features+1].
 */
static void split_logits(const struct qa_features *features, const struct qa_logits *logits,
                         float *starts, float *ends, int64_t *offsets)
{
    size_t next = 0;
    for (size_t i = 0; i < features->n_features; i++) {
        offsets[i] = (int64_t)next;
        for (uint32_t t = 0; t < features->features[i].n_tokens; t++, next++) {
            starts[next] = logits->features[i][2 * t];
            ends[next] = logits->features[i][2 * t + 1];
        }
    }
    offsets[features->n_features] = (int64_t)next;
}

yoke_status qa_debug_save_logits(const char *path, const struct qa_features *features,
                                 const struct qa_logits *logits)
{
    size_t n_tokens = 0;
    for (size_t i = 0; i < features->n_features; i++) {
        n_tokens += features->features[i].n_tokens;
    }
    float *starts = NULL, *ends = NULL;
    int64_t *offsets = NULL;
    yoke_status status;
    YOKE_TRY_GOTO(MEM_NEW(starts, n_tokens));
    YOKE_TRY_GOTO(MEM_NEW(ends, n_tokens));
    YOKE_TRY_GOTO(MEM_NEW(offsets, features->n_features + 1));
    split_logits(features, logits, starts, ends, offsets);
    const struct safetensors_item items[] = {
        {safetensors_info("start_logits", TENSOR_F32, n_tokens, 0), starts},
        {safetensors_info("end_logits", TENSOR_F32, n_tokens, 0), ends},
        {safetensors_info("offsets", TENSOR_I64, features->n_features + 1, 0), offsets},
    };
    status = safetensors_write(path, items, sizeof items / sizeof items[0]);
done:
    mem_free(starts);
    mem_free(ends);
    mem_free(offsets);
    return status;
}
