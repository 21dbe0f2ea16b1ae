/* The output folder: what may be written there, and which checkpoints stand in it.
 *
 * Only checkpoint-<number> folders that hold a trainer_state.json are ever removed (by rotation),
 * and the temporary files of processes that are gone; a folder of a checkpoint's name without the
 * file is somebody's own and stays, as does everything else. */
#ifndef LEARN_TRAIN_OUTPUT_FOLDER_H
#define LEARN_TRAIN_OUTPUT_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

/* The number of the highest checkpoint-<number> in `folder`, -1 when there is none or no folder. */
yoke_status output_folder_last_checkpoint(const char *folder, int64_t *number_out) YOKE_MUST_USE;

/* Whether `path` is a checkpoint that was written to its end: rename made it whole, and it holds a
 * trainer_state.json. */
bool output_folder_is_checkpoint(const char *path);

/* "FOLDER/checkpoint-NUMBER" (mem_free); NULL without memory. */
char *output_folder_checkpoint_path(const char *folder, int64_t number);

/* Makes the folder if need be, and clears it of what a killed run had half written, which does not
 * count as content. For training, a folder that is not empty is used when `overwrite` is
 * set, or when it holds a checkpoint: then *resume_out is its number, -1 otherwise. Else
 * YOKE_ERR_EXISTS. */
yoke_status output_folder_prepare(const char *folder, bool trains, bool overwrite,
                                  int64_t *resume_out) YOKE_MUST_USE;

/* Removes the oldest checkpoints by number until `limit` (>= 1) are left; checkpoint `newest`
 * always stays, and one with a higher number than it, left by another run, counts as older. */
yoke_status output_folder_rotate(const char *folder, int64_t newest, size_t limit) YOKE_MUST_USE;

#endif
