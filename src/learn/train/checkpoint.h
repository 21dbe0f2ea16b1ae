/* checkpoint-N folders: a complete model, and what a run needs to continue bit for bit.
 *
 * A checkpoint is written into a temporary folder beside its place and renamed when it is whole.
 * The optimizer's moments stand in optimizer.safetensors as exp_avg.<parameter> and
 * exp_avg_sq.<parameter>, complete, whatever the number of ranks that wrote them or will read them.
 */
#ifndef LEARN_TRAIN_CHECKPOINT_H
#define LEARN_TRAIN_CHECKPOINT_H

#include "learn/train/loop.h"

/* Collective. Writes OUTPUT/checkpoint-<global_step> and applies save_total_limit. The gradients
 * are used as scratch. */
yoke_status checkpoint_save(const struct train_run *run, struct optimizer *optimizer,
                            const struct trainer_state *state) YOKE_MUST_USE;

/* Reads the moments of this rank's shard and the progress. The weights are the model folder's own
 * business and were loaded before. YOKE_ERR_NOT_FOUND when the checkpoint has no optimizer state.
 */
yoke_status checkpoint_load(const struct train_run *run, const char *folder,
                            struct optimizer *optimizer, struct trainer_state *state) YOKE_MUST_USE;

#endif
