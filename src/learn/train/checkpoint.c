/* Writing and reading checkpoints. The first rank writes; every rank reads its shard. */
#include "learn/train/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/format/safetensors.h"
#include "learn/train/output_folder.h"

enum { N_MOMENTS = 2, NAME_BYTES = 128 };

static const char *const moment_prefixes[N_MOMENTS] = {"exp_avg", "exp_avg_sq"};
static const char optimizer_file[] = "optimizer.safetensors";

/* The complete moments on the first rank. With one rank they are the shard; with more they are
 * gathered: one into `copy`, one into the gradients, which hold nothing between two training steps.
 */
struct moments {
    const float *full[N_MOMENTS];
    float *copy;
    size_t n_padded;
};

static yoke_status gather_moments(const struct train_run *run, struct optimizer *o,
                                  struct moments *moments)
{
    const int size = yoke_comm_size(run->comm);
    moments->n_padded = o->n_shard * (size_t)size;
    if (size == 1) {
        moments->full[0] = o->m;
        moments->full[1] = o->v;
        return YOKE_OK;
    }
    YOKE_TRY(yoke_comm_allgather(run->comm, o->m, o->gradients, o->n_shard, YOKE_FLOAT32));
    if (yoke_comm_rank(run->comm) == 0) {
        moments->copy = mem_big(moments->n_padded * sizeof(float));
        if (!moments->copy) {
            return YOKE_ERR_NO_MEMORY;
        }
        memcpy(moments->copy, o->gradients, moments->n_padded * sizeof(float));
    }
    YOKE_TRY(yoke_comm_allgather(run->comm, o->v, o->gradients, o->n_shard, YOKE_FLOAT32));
    moments->full[0] = moments->copy;
    moments->full[1] = o->gradients;
    return YOKE_OK;
}

static yoke_status write_moments(const struct params *params, const struct moments *moments,
                                 const char *folder)
{
    const size_t n = params->n_params;
    char(*names)[NAME_BYTES] = NULL;
    struct safetensors_item *items = NULL;
    char *path = str_path(folder, optimizer_file);
    yoke_status status = path ? YOKE_OK : YOKE_ERR_NO_MEMORY;
    YOKE_TRY_GOTO(status);
    YOKE_TRY_GOTO(MEM_NEW(names, N_MOMENTS * n));
    YOKE_TRY_GOTO(MEM_NEW(items, N_MOMENTS * n));
    for (size_t i = 0; i < N_MOMENTS * n; i++) {
        const size_t moment = i / n;
        const struct param *param = &params->table[i % n];
        snprintf(names[i], NAME_BYTES, "%s.%s", moment_prefixes[moment], param->name);
        items[i].info = safetensors_info(names[i], TENSOR_F32, param->rows, param->columns);
        items[i].data = moments->full[moment] + param->offset;
    }
    status = safetensors_write(path, items, N_MOMENTS * n);
done:
    mem_free(items);
    mem_free(names);
    mem_free(path);
    return status;
}

static yoke_status write_contents(const struct train_run *run, const struct moments *moments,
                                  const struct trainer_state *state, const char *folder,
                                  const char *shown_as)
{
    YOKE_TRY(file_remove_tree(folder)); /* what a run that was killed here left */
    YOKE_TRY(file_make_directories(folder));
    YOKE_TRY(run->task->save(run->task->context, folder, shown_as));
    if (!run->options->save_only_model) {
        YOKE_TRY(write_moments(run->params, moments, folder));
    }
    return trainer_state_write(state, folder);
}

/* A checkpoint of that number from an earlier run gives way; a folder that is none of ours stays.
 */
static yoke_status move_into_place(const char *temporary, const char *path)
{
    if (file_exists(path)) {
        if (!output_folder_is_checkpoint(path)) {
            return yoke_fail(YOKE_ERR_EXISTS,
                             "%s exists and is no checkpoint; move it away or name another "
                             "--output_dir",
                             path);
        }
        YOKE_TRY(file_discard(path));
    }
    if (rename(temporary, path) != 0) {
        return yoke_fail(YOKE_ERR_IO, "cannot rename %s to %s: %m", temporary, path);
    }
    return YOKE_OK;
}

static yoke_status write_checkpoint(const struct train_run *run, const struct moments *moments,
                                    const struct trainer_state *state)
{
    const char *output = run->options->output_dir;
    char *path = output_folder_checkpoint_path(output, state->global_step);
    char *temporary = path ? file_temporary_path(path) : NULL;
    yoke_status status = temporary ? YOKE_OK : YOKE_ERR_NO_MEMORY;
    YOKE_TRY_GOTO(status);
    status = write_contents(run, moments, state, temporary, path);
    if (status == YOKE_OK) {
        status = move_into_place(temporary, path);
    }
    if (status < 0) {
        /* The message is about the write; what is left of it helps nobody and may fill the disk. */
        char message[1024];
        snprintf(message, sizeof message, "%s", yoke_last_error());
        (void)!file_remove_tree(temporary);
        status = yoke_fail(status, "%s", message);
        goto done;
    }
    if (run->options->save_total_limit > 0) {
        status = output_folder_rotate(output, state->global_step,
                                      (size_t)run->options->save_total_limit);
    }
done:
    mem_free(temporary);
    mem_free(path);
    return status;
}

yoke_status checkpoint_save(const struct train_run *run, struct optimizer *optimizer,
                            const struct trainer_state *state)
{
    struct moments moments = {0};
    yoke_status status = YOKE_OK;
    if (!run->options->save_only_model) {
        YOKE_TRY_GOTO(gather_moments(run, optimizer, &moments));
    }
    if (yoke_comm_rank(run->comm) == 0) {
        status = write_checkpoint(run, &moments, state);
    }
done:
    if (moments.copy) {
        mem_free_big(moments.copy, moments.n_padded * sizeof(float));
    }
    return status;
}

/* The part of a tensor that lies in this rank's shard. */
static void copy_into_shard(const struct optimizer *o, const struct param *param, const void *data,
                            float *shard)
{
    const size_t shard_end = o->shard_begin + o->n_shard;
    const size_t end = param->offset + param_size(param);
    const size_t from = param->offset > o->shard_begin ? param->offset : o->shard_begin;
    const size_t to = end < shard_end ? end : shard_end;
    if (from < to) {
        memcpy(shard + (from - o->shard_begin),
               (const char *)data + (from - param->offset) * sizeof(float),
               (to - from) * sizeof(float));
    }
}

static yoke_status read_moment(const struct safetensors *file, const char *path, const char *prefix,
                               const struct param *param, const struct optimizer *o, float *shard)
{
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.%s", prefix, param->name);
    const size_t index = safetensors_find(file, name);
    if (index == SIZE_MAX) {
        return yoke_fail(YOKE_ERR_FORMAT, "%s has no tensor %s: it belongs to another model", path,
                         name);
    }
    const struct tensor_info *info = safetensors_get(file, index);
    if (info->dtype != TENSOR_F32 || info->n_elements != param_size(param)) {
        return yoke_fail(YOKE_ERR_FORMAT,
                         "%s: tensor %s has %zu elements of type %s, expected %zu of F32", path,
                         name, info->n_elements, tensor_dtype_name(info->dtype), param_size(param));
    }
    copy_into_shard(o, param, safetensors_data(file, index), shard);
    return YOKE_OK;
}

static yoke_status read_moments(const struct params *params, const char *path, struct optimizer *o)
{
    struct safetensors *file;
    YOKE_TRY(safetensors_open(path, &file));
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < params->n_params && status == YOKE_OK; i++) {
        status = read_moment(file, path, moment_prefixes[0], &params->table[i], o, o->m);
        if (status == YOKE_OK) {
            status = read_moment(file, path, moment_prefixes[1], &params->table[i], o, o->v);
        }
    }
    safetensors_close(file);
    return status;
}

yoke_status checkpoint_load(const struct train_run *run, const char *folder,
                            struct optimizer *optimizer, struct trainer_state *state)
{
    YOKE_TRY(trainer_state_read(state, folder, yoke_comm_rank(run->comm) == 0));
    char *path = str_path(folder, optimizer_file);
    if (!path) {
        return YOKE_ERR_NO_MEMORY;
    }
    yoke_status status;
    if (!file_exists(path)) {
        status = yoke_fail(YOKE_ERR_NOT_FOUND,
                           "%s has no %s, so training cannot continue from it; to start anew from "
                           "its weights, pass "
                           "it as --model_name_or_path with another --output_dir",
                           folder, optimizer_file);
    } else {
        status = read_moments(run->params, path, optimizer);
    }
    mem_free(path);
    return status;
}
