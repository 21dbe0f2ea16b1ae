/* The training arguments of the reference's Trainer, in the spellings of its versions 4 and 5.
 *
 * Every option that is accepted either acts or is answered by a log line that says what it means
 * here. What this version cannot do is an error, never a silent difference. */
#ifndef LEARN_TRAIN_TRAIN_OPTIONS_H
#define LEARN_TRAIN_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options/option.h"
#include "learn/format/json.h"
#include "learn/train/schedule.h"

/* When something happens; the order is that of the choices "no,steps,epoch". */
enum train_strategy { TRAIN_NEVER, TRAIN_STEPS, TRAIN_EPOCH };

struct train_options {
    /* The job. */
    const char *output_dir;
    bool overwrite_output_dir;
    bool do_train, do_eval, do_predict;
    const char *resume_from_checkpoint;
    int64_t seed, data_seed; /* data_seed -1: as seed */
    /* Length and batches. */
    double num_train_epochs;
    int64_t max_steps;
    int64_t per_device_train_batch_size, per_device_eval_batch_size;
    int64_t gradient_accumulation_steps;
    bool dataloader_drop_last;
    /* Optimizer and learning rate. */
    double learning_rate, weight_decay, adam_beta1, adam_beta2, adam_epsilon, max_grad_norm;
    int lr_scheduler_type;
    double warmup_ratio, warmup_steps;
    int optim;
    double label_smoothing_factor;
    /* Log. */
    int logging_strategy;
    double logging_steps;
    bool logging_first_step, logging_nan_inf_filter, disable_tqdm, log_on_each_node;
    int log_level, log_level_replica;
    const char *report_to, *logging_dir, *run_name;
    bool include_num_input_tokens_seen;
    /* Evaluation while training. */
    int eval_strategy;
    double eval_steps; /* 0: as logging_steps */
    double eval_delay;
    int64_t eval_accumulation_steps;
    bool load_best_model_at_end, greater_is_better;
    const char *metric_for_best_model;
    /* Checkpoints. */
    int save_strategy;
    double save_steps;
    int64_t save_total_limit; /* 0: no limit */
    bool save_safetensors, save_only_model, ignore_data_skip,
        restore_callback_states_from_checkpoint;
    bool push_to_hub;
    /* Hardware and ranks. */
    bool use_cpu, use_ipex, bf16, fp16, jit_mode_eval, torch_compile, full_determinism;
    bool gradient_checkpointing, group_by_length, average_tokens_across_devices;
    bool ddp_find_unused_parameters, ddp_broadcast_buffers, dataloader_pin_memory;
    int ddp_backend;
    int64_t ddp_timeout, ddp_bucket_cap_mb, dataloader_num_workers, local_rank;
    const char *deepspeed, *fsdp;
};

extern const struct option_def train_option_defs[];
extern const size_t train_n_option_defs;

/* YOKE_ERR_UNSUPPORTED or YOKE_ERR_INVALID for values that this version does not do or that
 * contradict each other. */
yoke_status train_options_check(const struct train_options *options) YOKE_MUST_USE;

/* Logs, for each option that was given and acts differently here, what it means. */
void train_options_explain(const struct option_set *set, const struct train_options *options);

/* The level of log_set_level that --log_level means; replicas have --log_level_replica. */
int train_options_log_level(const struct train_options *options, bool first_rank);

enum schedule_kind train_options_schedule(const struct train_options *options);

/* Every option of a set with its value, for training_args.json. json_decref the result. */
yoke_status train_options_to_json(const struct option_set *set, json_t **json_out) YOKE_MUST_USE;

#endif
