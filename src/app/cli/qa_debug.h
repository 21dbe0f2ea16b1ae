/* What a run computed, for comparison with other programs: --save_features and --save_logits. */
#ifndef APP_CLI_QA_DEBUG_H
#define APP_CLI_QA_DEBUG_H

#include "learn/task/qa_features.h"
#include "learn/train/qa_logits.h"

/* One JSON object a line and feature: example_id, input_ids, token_type_ids, offsets ([begin, end]
 * in code points for context tokens, else null), start_positions, end_positions. */
yoke_status qa_debug_save_features(const char *path, const struct qa_data *data,
                                   const struct qa_features *features) YOKE_MUST_USE;

/* safetensors: start_logits and end_logits [n_tokens of all features] float32, offsets
 * [n_features+1] int64. */
yoke_status qa_debug_save_logits(const char *path, const struct qa_features *features,
                                 const struct qa_logits *logits) YOKE_MUST_USE;

#endif
