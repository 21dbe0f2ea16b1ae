/* The table, and what follows from it: checks, explanations, the JSON form. */
#include "learn/train/train_options.h"

#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"

#define AT(field) offsetof(struct train_options, field)
#define JOB "Job"
#define LENGTH "Length and batches"
#define RATE "Optimizer and learning rate"
#define LOG "Log"
#define EVAL "Evaluation while training"
#define SAVE "Checkpoints"
#define HARDWARE "Hardware and ranks"

/* The schedules that later versions bring stand in the list so that asking for one says so. */
#define SCHEDULERS                                                                                 \
    "linear,constant,constant_with_warmup,cosine,cosine_with_restarts,polynomial,inverse_sqrt,"    \
    "reduce_lr_on_plateau,cosine_with_min_lr,warmup_stable_decay"
#define LOG_LEVELS "debug,info,warning,error,critical,passive"
#define BACKENDS "none,nccl,gloo,mpi,ccl,xccl,hccl,cncl,mccl"

/* A log line for an accepted option that has nothing, or something else, to do here. */
struct explanation {
    const char *name;
    const char *text;
};

const struct option_def train_option_defs[] = {
    {"output_dir", NULL, OPTION_STRING, "trainer_output", NULL, NULL, JOB,
     "Folder for the model, checkpoints and results.", AT(output_dir)},
    {"overwrite_output_dir", NULL, OPTION_BOOL, "false", NULL, NULL, JOB,
     "Train into a folder that is not empty; only files of the run's own names are replaced.",
     AT(overwrite_output_dir)},
    {"do_train", NULL, OPTION_BOOL, "false", NULL, NULL, JOB, "Train on the training file.",
     AT(do_train)},
    {"do_eval", NULL, OPTION_BOOL, "false", NULL, NULL, JOB, "Evaluate on the validation file.",
     AT(do_eval)},
    {"do_predict", NULL, OPTION_BOOL, "false", NULL, NULL, JOB,
     "Predict on a test file (comes with a later version).", AT(do_predict)},
    {"resume_from_checkpoint", NULL, OPTION_STRING, NULL, NULL, NULL, JOB,
     "Folder checkpoint-N to continue from; true takes the newest one in output_dir.",
     AT(resume_from_checkpoint)},
    {"seed", NULL, OPTION_INT, "42", "0..4294967295", NULL, JOB,
     "Seed of fresh weights, dropout and the order of examples.", AT(seed)},
    {"data_seed", NULL, OPTION_INT, "-1", "-1..4294967295", NULL, JOB,
     "Seed of the order of examples alone; -1 takes seed.", AT(data_seed)},

    {"num_train_epochs", NULL, OPTION_FLOAT, "3.0", "0..1000000", NULL, LENGTH,
     "Passes over the training examples; a fraction ends inside an epoch.", AT(num_train_epochs)},
    {"max_steps", NULL, OPTION_INT, "-1", "-1..1000000000", NULL, LENGTH,
     "Training steps; when positive it takes the place of num_train_epochs.", AT(max_steps)},
    {"per_device_train_batch_size", NULL, OPTION_INT, "8", "1..65536", NULL, LENGTH,
     "Examples of one rank in one batch.", AT(per_device_train_batch_size)},
    {"per_device_eval_batch_size", NULL, OPTION_INT, "8", "1..65536", NULL, LENGTH,
     "Windows of one rank in one batch of the evaluation.", AT(per_device_eval_batch_size)},
    {"gradient_accumulation_steps", NULL, OPTION_INT, "1", "1..65536", NULL, LENGTH,
     "Batches whose gradients are averaged into one training step.",
     AT(gradient_accumulation_steps)},
    {"dataloader_drop_last", NULL, OPTION_BOOL, "false", NULL, NULL, LENGTH,
     "Leave out the last batch of an epoch when it is not full.", AT(dataloader_drop_last)},

    {"learning_rate", NULL, OPTION_FLOAT, "5e-05", "0..", NULL, RATE, "Peak learning rate.",
     AT(learning_rate)},
    {"lr_scheduler_type", NULL, OPTION_CHOICE, "linear", SCHEDULERS, NULL, RATE,
     "How the learning rate moves; this version has the first three.", AT(lr_scheduler_type)},
    {"warmup_ratio", NULL, OPTION_FLOAT, "0.0", "0..1", NULL, RATE,
     "Share of the training steps in which the learning rate rises from 0.", AT(warmup_ratio)},
    {"warmup_steps", NULL, OPTION_FLOAT, "0", "0..1000000000", NULL, RATE,
     "Training steps of warm-up (below 1: a share); takes the place of warmup_ratio.",
     AT(warmup_steps)},
    {"weight_decay", NULL, OPTION_FLOAT, "0.0", "0..", NULL, RATE,
     "Decay of all weights but biases and LayerNorms.", AT(weight_decay)},
    {"optim", NULL, OPTION_CHOICE, "adamw_torch", "adamw_torch,adamw_torch_fused", NULL, RATE,
     "The optimizer: AdamW.", AT(optim)},
    {"adam_beta1", NULL, OPTION_FLOAT, "0.9", "0..1", NULL, RATE, "Decay of the first moment.",
     AT(adam_beta1)},
    {"adam_beta2", NULL, OPTION_FLOAT, "0.999", "0..1", NULL, RATE, "Decay of the second moment.",
     AT(adam_beta2)},
    {"adam_epsilon", NULL, OPTION_FLOAT, "1e-08", "0..", NULL, RATE,
     "Added to the root of the second moment.", AT(adam_epsilon)},
    {"max_grad_norm", NULL, OPTION_FLOAT, "1.0", "0..", NULL, RATE,
     "Gradients are scaled down to this norm; 0 never scales.", AT(max_grad_norm)},
    {"label_smoothing_factor", NULL, OPTION_FLOAT, "0.0", "0..1", NULL, RATE,
     "Label smoothing (comes with a later version).", AT(label_smoothing_factor)},

    {"logging_strategy", NULL, OPTION_CHOICE, "steps", "no,steps,epoch", NULL, LOG,
     "When loss and learning rate are reported.", AT(logging_strategy)},
    {"logging_steps", NULL, OPTION_FLOAT, "500", ">0", NULL, LOG,
     "Training steps between reports; below 1 a share of the run.", AT(logging_steps)},
    {"logging_first_step", NULL, OPTION_BOOL, "false", NULL, NULL, LOG,
     "Report the first training step too.", AT(logging_first_step)},
    {"logging_nan_inf_filter", NULL, OPTION_BOOL, "true", NULL, NULL, LOG,
     "Hide losses that are not numbers; here such a loss ends the run.",
     AT(logging_nan_inf_filter)},
    {"disable_tqdm", NULL, OPTION_BOOL, "false", NULL, NULL, LOG, "Show no progress bar.",
     AT(disable_tqdm)},
    {"log_level", NULL, OPTION_CHOICE, "passive", LOG_LEVELS, "TRANSFORMERS_VERBOSITY", LOG,
     "Least level that the first rank logs; passive means info.", AT(log_level)},
    {"log_level_replica", NULL, OPTION_CHOICE, "warning", LOG_LEVELS, NULL, LOG,
     "Least level that the other ranks log.", AT(log_level_replica)},
    {"log_on_each_node", NULL, OPTION_BOOL, "true", NULL, NULL, LOG,
     "Log once on each host; ranks of one host log once in any case.", AT(log_on_each_node)},
    {"report_to", NULL, OPTION_STRING, "none", NULL, NULL, LOG,
     "Other places for the log: none or all (TensorBoard comes with a later version).",
     AT(report_to)},
    {"logging_dir", NULL, OPTION_STRING, NULL, NULL, NULL, LOG,
     "Folder of TensorBoard's files (comes with a later version).", AT(logging_dir)},
    {"run_name", NULL, OPTION_STRING, NULL, NULL, NULL, LOG, "Name of the run in the log.",
     AT(run_name)},
    {"include_num_input_tokens_seen", NULL, OPTION_BOOL, "false", NULL, NULL, LOG,
     "Count the tokens: in trainer_state.json, and per second in train_results.json.",
     AT(include_num_input_tokens_seen)},

    {"eval_strategy", "evaluation_strategy", OPTION_CHOICE, "no", "no,steps,epoch", NULL, EVAL,
     "When the validation file is evaluated during training.", AT(eval_strategy)},
    {"eval_steps", NULL, OPTION_FLOAT, "0", "0..", NULL, EVAL,
     "Training steps between evaluations; below 1 a share, 0 as logging_steps.", AT(eval_steps)},
    {"eval_delay", NULL, OPTION_FLOAT, "0", "0..", NULL, EVAL,
     "Steps or epochs (as eval_strategy counts) before the first evaluation.", AT(eval_delay)},
    {"eval_accumulation_steps", NULL, OPTION_INT, "0", "0..", NULL, EVAL,
     "Batches before results move to the host; here they are there at once.",
     AT(eval_accumulation_steps)},
    {"load_best_model_at_end", NULL, OPTION_BOOL, "false", NULL, NULL, EVAL,
     "Keep the best checkpoint's weights (comes with a later version).",
     AT(load_best_model_at_end)},
    {"metric_for_best_model", NULL, OPTION_STRING, NULL, NULL, NULL, EVAL,
     "Metric of the best checkpoint (comes with a later version).", AT(metric_for_best_model)},
    {"greater_is_better", NULL, OPTION_BOOL, "false", NULL, NULL, EVAL,
     "Direction of that metric (comes with a later version).", AT(greater_is_better)},

    {"save_strategy", NULL, OPTION_CHOICE, "steps", "no,steps,epoch", NULL, SAVE,
     "When a checkpoint is written.", AT(save_strategy)},
    {"save_steps", NULL, OPTION_FLOAT, "500", ">0", NULL, SAVE,
     "Training steps between checkpoints; below 1 a share of the run.", AT(save_steps)},
    {"save_total_limit", NULL, OPTION_INT, "0", "0..", NULL, SAVE,
     "Checkpoints to keep, newest first; 0 keeps all.", AT(save_total_limit)},
    {"save_only_model", NULL, OPTION_BOOL, "false", NULL, NULL, SAVE,
     "Leave the optimizer's state out of checkpoints; they cannot be resumed.",
     AT(save_only_model)},
    {"save_safetensors", NULL, OPTION_BOOL, "true", NULL, NULL, SAVE,
     "Weights are always written as safetensors.", AT(save_safetensors)},
    {"ignore_data_skip", NULL, OPTION_BOOL, "false", NULL, NULL, SAVE,
     "Do not skip batches when resuming; here skipping takes no time and is always done.",
     AT(ignore_data_skip)},
    {"restore_callback_states_from_checkpoint", NULL, OPTION_BOOL, "false", NULL, NULL, SAVE,
     "There are no callbacks to restore.", AT(restore_callback_states_from_checkpoint)},
    {"push_to_hub", NULL, OPTION_BOOL, "false", NULL, NULL, SAVE, "Upload the model (not offered).",
     AT(push_to_hub)},

    {"use_cpu", "no_cuda", OPTION_BOOL, "true", NULL, NULL, HARDWARE, "Compute on CPUs, as always.",
     AT(use_cpu)},
    {"bf16", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Mixed precision; this version computes in fp32 and says so.", AT(bf16)},
    {"fp16", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Half precision; CPUs do not train in it.", AT(fp16)},
    {"use_ipex", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Use Intel's extension; the built-in kernels take its place.", AT(use_ipex)},
    {"jit_mode_eval", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Trace the model for evaluation; it is compiled code already.", AT(jit_mode_eval)},
    {"torch_compile", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Compile the model; it is compiled code already.", AT(torch_compile)},
    {"ddp_backend", "xpu_backend", OPTION_CHOICE, "none", BACKENDS, NULL, HARDWARE,
     "Library for gradients between ranks; libyoke takes its place.", AT(ddp_backend)},
    {"ddp_timeout", NULL, OPTION_INT, "1800", "1..", NULL, HARDWARE,
     "Seconds to wait for a rank; here ranks watch each other and a lost one is noticed at once.",
     AT(ddp_timeout)},
    {"ddp_find_unused_parameters", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Look for parameters without gradient; all have one.", AT(ddp_find_unused_parameters)},
    {"ddp_bucket_cap_mb", NULL, OPTION_INT, "25", "1..", NULL, HARDWARE,
     "Size of gradient buckets; all gradients travel as one.", AT(ddp_bucket_cap_mb)},
    {"ddp_broadcast_buffers", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Send buffers from the first rank; the models have none.", AT(ddp_broadcast_buffers)},
    {"local_rank", NULL, OPTION_INT, "-1", "-1..65535", NULL, HARDWARE,
     "Rank on this host; the launcher's environment decides.", AT(local_rank)},
    {"full_determinism", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Reproducible results; runs are reproducible in any case.", AT(full_determinism)},
    {"gradient_checkpointing", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Recompute activations to save memory (comes with a later version).",
     AT(gradient_checkpointing)},
    {"group_by_length", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Batch examples of like length; packed batches need no such order.", AT(group_by_length)},
    {"average_tokens_across_devices", NULL, OPTION_BOOL, "false", NULL, NULL, HARDWARE,
     "Weigh ranks by tokens; question answering averages over examples.",
     AT(average_tokens_across_devices)},
    {"dataloader_num_workers", NULL, OPTION_INT, "0", "0..1024", NULL, HARDWARE,
     "Processes that load data; features are in memory already.", AT(dataloader_num_workers)},
    {"dataloader_pin_memory", NULL, OPTION_BOOL, "true", NULL, NULL, HARDWARE,
     "Pin memory for a device; there is none.", AT(dataloader_pin_memory)},
    {"deepspeed", NULL, OPTION_STRING, NULL, NULL, NULL, HARDWARE,
     "DeepSpeed configuration (not offered: the optimizer is sharded already).", AT(deepspeed)},
    {"fsdp", NULL, OPTION_STRING, NULL, NULL, NULL, HARDWARE,
     "Fully sharded data parallelism (not offered: the optimizer is sharded already).", AT(fsdp)},
};
const size_t train_n_option_defs = sizeof train_option_defs / sizeof train_option_defs[0];

static const struct explanation explanations[] = {
    {"optim", "AdamW is one pass over all threads, by either name."},
    {"use_ipex", "yoke's own kernels and oneDNN take the place of Intel's extension."},
    {"jit_mode_eval", "the model is compiled code already."},
    {"torch_compile", "the model is compiled code already."},
    {"ddp_backend", "gradients travel through libyoke, whatever backend is named."},
    {"ddp_timeout",
     "ranks watch each other: a lost rank ends the run within seconds, a slow one is "
     "waited for without limit."},
    {"ddp_find_unused_parameters", "every parameter has a gradient; nothing is searched."},
    {"ddp_bucket_cap_mb", "all gradients travel as one bucket."},
    {"ddp_broadcast_buffers", "the models have no buffers."},
    {"local_rank", "ranks come from the launcher's environment; the value is not used."},
    {"full_determinism", "every run is reproducible bit for bit for its layout."},
    {"group_by_length", "batches are packed without padding, so the order stays random."},
    {"average_tokens_across_devices", "the loss is a mean over examples; tokens do not weigh it."},
    {"dataloader_num_workers", "features are in memory; no loader process is needed."},
    {"dataloader_pin_memory", "there is no device to pin memory for."},
    {"logging_nan_inf_filter", "a loss that is not a finite number ends the run with an error."},
    {"log_on_each_node", "all ranks are on one host; the first one logs."},
    {"eval_accumulation_steps", "results of the evaluation are in host memory at once."},
    {"ignore_data_skip", "skipping takes no time here; a resumed run continues at its next batch."},
    {"restore_callback_states_from_checkpoint", "there are no callbacks; nothing to restore."},
    {"logging_dir", "TensorBoard files come with a later version; nothing is written there."},
    {"run_name", "it names runs of trackers, which come with a later version."},
};

static bool is_given(const struct option_set *set, const char *name)
{
    return option_set_source(set, name) != OPTION_FROM_DEFAULT;
}

void train_options_explain(const struct option_set *set, const struct train_options *options)
{
    for (size_t i = 0; i < sizeof explanations / sizeof explanations[0]; i++) {
        if (is_given(set, explanations[i].name)) {
            log_info("--%s: %s", explanations[i].name, explanations[i].text);
        }
    }
    if (is_given(set, "use_cpu") && !options->use_cpu) {
        log_warning("--use_cpu false: yoke computes on CPUs only.");
    }
    if (options->bf16) {
        log_warning("--bf16: this version computes in fp32; weights and results are fp32.");
    }
    if (is_given(set, "report_to") && strcmp(options->report_to, "none") != 0) {
        log_warning("--report_to %s: TensorBoard comes with a later version; results are in "
                    "trainer_state.json and all_results.json.",
                    options->report_to);
    }
}

/* What this version does not do: `asked` says that the user wants it. */
struct refusal {
    bool asked;
    const char *message;
};

static yoke_status refuse_unsupported(const struct train_options *o)
{
    const struct refusal refusals[] = {
        {o->do_predict,
         "--do_predict comes with a later version; use --do_eval with --validation_file"},
        {o->fp16, "--fp16: CPUs do not train in half precision; leave it out or use --bf16"},
        {o->label_smoothing_factor != 0.0, "--label_smoothing_factor comes with a later version"},
        {o->load_best_model_at_end, "--load_best_model_at_end comes with a later version; every "
                                    "checkpoint-N folder is a complete model"},
        {o->metric_for_best_model != NULL || o->greater_is_better,
         "--metric_for_best_model and --greater_is_better come with a later version"},
        {!o->save_safetensors, "--save_safetensors false: weights are written as safetensors only; "
                               "leave the option out"},
        {o->push_to_hub,
         "--push_to_hub: uploads are not offered; the output folder is ready to upload"},
        {o->gradient_checkpointing,
         "--gradient_checkpointing comes with a later version; use a smaller "
         "--per_device_train_batch_size with --gradient_accumulation_steps"},
        {o->deepspeed || o->fsdp,
         "--deepspeed and --fsdp are not offered; the optimizer's state is "
         "sharded over the ranks already"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        if (refusals[i].asked) {
            return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s", refusals[i].message);
        }
    }
    return YOKE_OK;
}

yoke_status train_options_check(const struct train_options *options)
{
    YOKE_TRY(refuse_unsupported(options));
    if (!options->output_dir[0]) {
        return yoke_fail(YOKE_ERR_INVALID, "--output_dir is empty; name a folder");
    }
    if (options->lr_scheduler_type > SCHEDULE_CONSTANT_WITH_WARMUP) {
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "--lr_scheduler_type: only linear, constant and "
                         "constant_with_warmup are there; the others come with a "
                         "later version");
    }
    if (options->warmup_steps > 1.0 &&
        options->warmup_steps != (double)(int64_t)options->warmup_steps) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "--warmup_steps %g is neither a whole number of steps nor a share below 1",
                         options->warmup_steps);
    }
    if (options->adam_beta1 >= 1.0 || options->adam_beta2 >= 1.0) {
        return yoke_fail(YOKE_ERR_INVALID, "--adam_beta1 and --adam_beta2 must be below 1");
    }
    return YOKE_OK;
}

enum schedule_kind train_options_schedule(const struct train_options *options)
{
    return (enum schedule_kind)options->lr_scheduler_type;
}

int train_options_log_level(const struct train_options *options, bool first_rank)
{
    /* In the order of LOG_LEVELS; passive leaves the program's own level. */
    static const enum log_level levels[] = {LOG_DEBUG, LOG_INFO,  LOG_WARNING,
                                            LOG_ERROR, LOG_ERROR, LOG_INFO};
    return levels[first_rank ? options->log_level : options->log_level_replica];
}

static json_t *option_to_json(const struct option_table *table, const struct option_def *def)
{
    const char *field = (const char *)table->values + def->offset;
    switch (def->type) {
    case OPTION_BOOL:
        return json_boolean(*(const bool *)field);
    case OPTION_INT:
        return json_integer(*(const int64_t *)field);
    case OPTION_FLOAT:
        return json_real(*(const double *)field);
    case OPTION_STRING:
        break;
    case OPTION_CHOICE: {
        char *text = option_choice_text(def, *(const int *)field);
        json_t *json = text ? json_string(text) : NULL;
        mem_free(text);
        return json;
    }
    }
    const char *text = *(const char *const *)field;
    return text ? json_string(text) : json_null();
}

yoke_status train_options_to_json(const struct option_set *set, json_t **json_out)
{
    json_t *object = json_object();
    for (size_t t = 0; t < set->n_tables; t++) {
        const struct option_table *table = &set->tables[t];
        for (size_t i = 0; i < table->n_defs; i++) {
            if (json_object_set_new(object, table->defs[i].name,
                                    option_to_json(table, &table->defs[i])) != 0) {
                json_decref(object);
                return yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for the list of options");
            }
        }
    }
    *json_out = object;
    return YOKE_OK;
}
