/* Loading: which tensor of a file is which parameter.
 *
 * The file's tensors are walked once. A name is tried as it is, then with the encoder's prefix in
 * front (files of base models), with LayerNorm's old gamma and beta read as weight and bias (files
 * of the first BERT conversions). What is left over on either side is reported in the reference's
 * words. */
#include "learn/model/params.h"

#include <stdio.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/format/tensor_source.h"

enum { MAX_LISTED = 8, NONE = -1 };

struct loading {
    const struct params *params;
    const char *folder;
    const char *prefix;
    struct tensor_source *source;
    size_t *tensor_of; /* 1 + tensor for each parameter; 0: missing */
    struct str unexpected;
    size_t n_unexpected;
};

static long find_param(const struct params *params, const char *name)
{
    for (size_t i = 0; i < params->n_params; i++) {
        if (strcmp(params->table[i].name, name) == 0) {
            return (long)i;
        }
    }
    return NONE;
}

/* Today's name of a LayerNorm parameter; other names as they are. False when it does not fit. */
static bool modern_name(const char *name, char modern[static 128])
{
    const char *end = str_ends_with(name, "LayerNorm.gamma")  ? "weight"
                      : str_ends_with(name, "LayerNorm.beta") ? "bias"
                                                              : NULL;
    const int n_kept = (int)strnlen(name, 128) - (end ? (*end == 'w' ? 5 : 4) : 0);
    const int n = snprintf(modern, 128, "%.*s%s", n_kept, name, end ? end : "");
    return n < 128;
}

static long match(const struct loading *loading, const char *name)
{
    char modern[128];
    char prefixed[160];
    if (!modern_name(name, modern)) {
        return NONE;
    }
    const long index = find_param(loading->params, modern);
    if (index != NONE) {
        return index;
    }
    snprintf(prefixed, sizeof prefixed, "%s%s", loading->prefix, modern);
    return find_param(loading->params, prefixed);
}

/* Buffers of old files that are numbered anew by every program. */
static bool is_silent(const char *name)
{
    return strcmp(name, "position_ids") == 0 || str_ends_with(name, ".position_ids");
}

/* Appends 'NAME' to a list that is cut after MAX_LISTED names. */
static yoke_status list_name(struct str *list, size_t index, const char *name)
{
    return index < MAX_LISTED ? str_printf(list, "%s'%.100s'", index > 0 ? ", " : "", name)
                              : YOKE_OK;
}

static yoke_status end_list(struct str *list, size_t n)
{
    return n > MAX_LISTED ? str_printf(list, " and %zu more", n - MAX_LISTED) : YOKE_OK;
}

static yoke_status check_shape(const struct loading *loading, size_t tensor,
                               const struct param *param)
{
    const struct tensor_info *info = tensor_source_get(loading->source, tensor);
    const size_t wanted[2] = {param->rows, param->columns};
    const size_t n_dims = param->columns == 0 ? 1 : 2;
    if (info->n_dims == n_dims && memcmp(info->shape, wanted, n_dims * sizeof *wanted) == 0) {
        return YOKE_OK;
    }
    struct str shapes = {0};
    yoke_status status;
    YOKE_TRY_GOTO(tensor_print_shape(&shapes, info->shape, info->n_dims));
    YOKE_TRY_GOTO(str_append_text(&shapes, ", but the model's configuration makes it "));
    YOKE_TRY_GOTO(tensor_print_shape(&shapes, wanted, n_dims));
    status = yoke_fail(YOKE_ERR_FORMAT,
                       "%s: tensor %.100s has the shape %s; weights and config.json do not belong "
                       "together",
                       tensor_source_path(loading->source, tensor), info->name, str_text(&shapes));
done:
    str_fini(&shapes);
    return status;
}

/* Fills tensor_of and the list of unexpected names. An exact name comes before one that needs the
 * prefix. */
static yoke_status match_all(struct loading *loading)
{
    const size_t n = tensor_source_count(loading->source);
    for (size_t i = 0; i < n; i++) {
        const char *name = tensor_source_get(loading->source, i)->name;
        const long index = match(loading, name);
        const bool taken = index != NONE && loading->tensor_of[index] > 0;
        const bool exact = index != NONE && strcmp(name, loading->params->table[index].name) == 0;
        if (index != NONE && (!taken || exact)) {
            loading->tensor_of[index] = i + 1;
        } else if (!is_silent(name)) {
            YOKE_TRY(list_name(&loading->unexpected, loading->n_unexpected++, name));
        }
    }
    return end_list(&loading->unexpected, loading->n_unexpected);
}

/* Shapes; and at least one of the encoder's tensors must be there: heads of all families have the
 * same names, so that a head alone says nothing. */
static yoke_status check_all(const struct loading *loading)
{
    size_t n_encoder = 0;
    for (size_t i = 0; i < loading->params->n_params; i++) {
        const char *name = loading->params->table[i].name;
        n_encoder += loading->tensor_of[i] > 0 &&
                     strncmp(name, loading->prefix, strlen(loading->prefix)) == 0;
    }
    if (n_encoder == 0) {
        return yoke_fail(
            YOKE_ERR_FORMAT,
            "%s: no tensor of its weights is one of this model's encoder (not used: %s; "
            "wanted are names like %s)",
            loading->folder, loading->n_unexpected > 0 ? str_text(&loading->unexpected) : "none",
            loading->params->table[0].name);
    }
    for (size_t i = 0; i < loading->params->n_params; i++) {
        if (loading->tensor_of[i] > 0) {
            YOKE_TRY(check_shape(loading, loading->tensor_of[i] - 1, &loading->params->table[i]));
        }
    }
    return YOKE_OK;
}

static yoke_status report(const struct loading *loading, const char *architecture)
{
    struct str missing = {0};
    size_t n_missing = 0;
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < loading->params->n_params; i++) {
        if (loading->tensor_of[i] == 0) {
            YOKE_TRY_GOTO(list_name(&missing, n_missing++, loading->params->table[i].name));
        }
    }
    YOKE_TRY_GOTO(end_list(&missing, n_missing));
    if (loading->n_unexpected > 0) {
        log_warning(
            "Some weights of the model checkpoint at %s were not used when initializing %s: "
            "[%s]",
            loading->folder, architecture, str_text(&loading->unexpected));
    }
    if (n_missing > 0) {
        log_warning(
            "Some weights of %s were not initialized from the model checkpoint at %s and are "
            "newly initialized: [%s]. You should probably TRAIN this model on a down-stream "
            "task to be able to use it for predictions and inference.",
            architecture, loading->folder, str_text(&missing));
    }
done:
    str_fini(&missing);
    return status;
}

static yoke_status fill(const struct loading *loading, const struct model_config *config,
                        uint64_t seed, float *values)
{
    struct mt19937 mt;
    mt19937_seed(&mt, seed);
    for (size_t i = 0; i < loading->params->n_params; i++) {
        const struct param *param = &loading->params->table[i];
        if (loading->tensor_of[i] == 0) {
            params_draw_one(param, config, &mt, values);
        } else {
            YOKE_TRY(tensor_source_copy(loading->source, loading->tensor_of[i] - 1,
                                        values + param->offset));
        }
    }
    return YOKE_OK;
}

yoke_status params_load(const struct params *params, const struct model_config *config,
                        const char *folder, uint64_t seed, float *values)
{
    struct loading loading = {
        .params = params, .folder = folder, .prefix = params_prefix(config->family)};
    yoke_status status;
    YOKE_TRY_GOTO(tensor_source_open(folder, &loading.source));
    YOKE_TRY_GOTO(MEM_NEW(loading.tensor_of, params->n_params));
    YOKE_TRY_GOTO(match_all(&loading));
    YOKE_TRY_GOTO(check_all(&loading));
    YOKE_TRY_GOTO(fill(&loading, config, seed, values));
    YOKE_TRY_GOTO(report(&loading, params_architecture(config->family, params->head)));
done:
    tensor_source_close(loading.source);
    mem_free(loading.tensor_of);
    str_fini(&loading.unexpected);
    return status;
}
