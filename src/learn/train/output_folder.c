/* Checkpoints are known by their numbers, never by times: clocks of file systems differ. */
#include "learn/train/output_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"

static const char checkpoint_prefix[] = "checkpoint-";

/* What a walk over the folder finds. */
struct contents {
    const char *folder;
    size_t n_entries;
    int64_t *checkpoints;
    size_t n_checkpoints;
    size_t capacity;
};

char *output_folder_checkpoint_path(const char *folder, int64_t number)
{
    char name[64];
    snprintf(name, sizeof name, "%s%lld", checkpoint_prefix, (long long)number);
    return str_path(folder, name);
}

/* -1 when the name is not checkpoint-<digits> as we write it. */
static int64_t checkpoint_number(const char *name)
{
    const size_t n = sizeof checkpoint_prefix - 1;
    int64_t number;
    if (strncmp(name, checkpoint_prefix, n) != 0 || !str_to_int64(name + n, &number)) {
        return -1;
    }
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    return number >= 0 && strcmp(text, name + n) == 0 ? number : -1;
}

bool output_folder_is_checkpoint(const char *path)
{
    char *state = str_path(path, "trainer_state.json");
    const bool whole = state && file_exists(state);
    mem_free(state);
    return whole;
}

static yoke_status visit_entry(const char *name, void *context)
{
    struct contents *contents = context;
    if (file_is_leftover(name)) {
        return YOKE_OK;
    }
    contents->n_entries++;
    const int64_t number = checkpoint_number(name);
    if (number < 0) {
        return YOKE_OK;
    }
    char *path = str_path(contents->folder, name);
    if (!path) {
        return YOKE_ERR_NO_MEMORY;
    }
    const bool counts = output_folder_is_checkpoint(path);
    mem_free(path);
    if (!counts) {
        return YOKE_OK;
    }
    YOKE_TRY(MEM_GROW(contents->checkpoints, contents->capacity, contents->n_checkpoints + 1));
    contents->checkpoints[contents->n_checkpoints++] = number;
    return YOKE_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static yoke_status list_contents(const char *folder, struct contents *contents)
{
    *contents = (struct contents){.folder = folder};
    if (!file_exists(folder)) {
        return YOKE_OK;
    }
    if (!file_is_directory(folder)) {
        return yoke_fail(YOKE_ERR_EXISTS, "--output_dir %s is a file; name a folder", folder);
    }
    const yoke_status status = file_list(folder, visit_entry, contents);
    if (status < 0) {
        mem_free(contents->checkpoints);
        contents->checkpoints = NULL;
        return status;
    }
    if (contents->n_checkpoints > 1) {
        qsort(contents->checkpoints, contents->n_checkpoints, sizeof(int64_t), compare_numbers);
    }
    return YOKE_OK;
}

yoke_status output_folder_last_checkpoint(const char *folder, int64_t *number_out)
{
    struct contents contents;
    YOKE_TRY(list_contents(folder, &contents));
    *number_out = contents.n_checkpoints ? contents.checkpoints[contents.n_checkpoints - 1] : -1;
    mem_free(contents.checkpoints);
    return YOKE_OK;
}

/* What a run that was killed had half written. */
static yoke_status remove_leftover(const char *name, void *context)
{
    if (!file_is_leftover(name)) {
        return YOKE_OK;
    }
    char *path = str_path(context, name);
    const yoke_status status = path ? file_remove_tree(path) : YOKE_ERR_NO_MEMORY;
    mem_free(path);
    return status;
}

yoke_status output_folder_prepare(const char *folder, bool trains, bool overwrite,
                                  int64_t *resume_out)
{
    struct contents contents;
    YOKE_TRY(list_contents(folder, &contents));
    int64_t resume = -1;
    if (trains && !overwrite && contents.n_checkpoints > 0) {
        resume = contents.checkpoints[contents.n_checkpoints - 1];
    }
    mem_free(contents.checkpoints);
    if (trains && !overwrite && contents.n_entries > 0 && resume < 0) {
        return yoke_fail(YOKE_ERR_EXISTS,
                         "output folder %s exists and is not empty; name another --output_dir, "
                         "or pass --overwrite_output_dir to train into it",
                         folder);
    }
    YOKE_TRY(file_make_directories(folder));
    YOKE_TRY(file_list(folder, remove_leftover, (void *)(uintptr_t)folder));
    *resume_out = resume;
    return YOKE_OK;
}

static yoke_status remove_checkpoint(const char *folder, int64_t number)
{
    char *path = output_folder_checkpoint_path(folder, number);
    if (!path) {
        return YOKE_ERR_NO_MEMORY;
    }
    log_info("Deleting older checkpoint [%s] due to args.save_total_limit", path);
    const yoke_status status = file_discard(path);
    mem_free(path);
    return status;
}

yoke_status output_folder_rotate(const char *folder, int64_t newest, size_t limit)
{
    struct contents contents;
    YOKE_TRY(list_contents(folder, &contents));
    yoke_status status = YOKE_OK;
    size_t left = contents.n_checkpoints;
    /* First the ones of other runs with higher numbers, then this run's, oldest first. */
    for (size_t i = contents.n_checkpoints;
         i-- > 0 && left > limit && contents.checkpoints[i] > newest;) {
        YOKE_TRY_GOTO(remove_checkpoint(folder, contents.checkpoints[i]));
        left--;
    }
    for (size_t i = 0;
         i < contents.n_checkpoints && left > limit && contents.checkpoints[i] < newest; i++) {
        YOKE_TRY_GOTO(remove_checkpoint(folder, contents.checkpoints[i]));
        left--;
    }
done:
    mem_free(contents.checkpoints);
    return status;
}
