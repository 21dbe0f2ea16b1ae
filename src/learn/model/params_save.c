/* Saving: the flat array as model.safetensors, streamed tensor by tensor under the reference's
 * names. */
#include "learn/model/params.h"

#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/format/safetensors.h"

yoke_status params_save(const struct params *params, const float *values, const char *folder)
{
    struct safetensors_item *items = NULL;
    char *path = str_path(folder, "model.safetensors");
    yoke_status status = path ? YOKE_OK : YOKE_ERR_NO_MEMORY;
    if (status < 0) {
        goto done;
    }
    YOKE_TRY_GOTO(MEM_NEW(items, params->n_params));
    for (size_t i = 0; i < params->n_params; i++) {
        const struct param *param = &params->table[i];
        items[i].info = safetensors_info(param->name, TENSOR_F32, param->rows, param->columns);
        items[i].data = values + param->offset;
    }
    YOKE_TRY_GOTO(safetensors_write(path, items, params->n_params));
done:
    mem_free(items);
    mem_free(path);
    return status;
}
