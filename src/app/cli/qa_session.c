/* Opening in the order in which mistakes are cheapest to find: small files first, weights last. */
#include "app/cli/qa_session.h"

#include <string.h>

#include "base/core/env.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/train/optimizer.h"
#include "machine/topology/core_plan.h"

/* OMP_NUM_THREADS when it is set (the launcher sets it), else the rank's share of the cores. All
 * ranks are on this host. */
static yoke_status choose_threads(const yoke_comm *comm, int *n_threads_out)
{
    int64_t asked;
    YOKE_TRY(env_get_int("OMP_NUM_THREADS", 1, CORE_PLAN_MAX_CPUS, 0, &asked));
    if (asked > 0) {
        *n_threads_out = (int)asked;
        return YOKE_OK;
    }
    struct core_share share;
    YOKE_TRY(core_plan_share(yoke_comm_rank(comm), yoke_comm_size(comm), &share));
    *n_threads_out = share.n_cpus;
    return YOKE_OK;
}

static yoke_status open_ranks(struct qa_session *session)
{
    const struct train_options *train = &session->command->train;
    YOKE_TRY(yoke_comm_create_from_env(&session->comm));
    session->is_first_rank = yoke_comm_rank(session->comm) == 0;
    log_set_level((enum log_level)train_options_log_level(train, session->is_first_rank));
    session->shows_progress = session->is_first_rank && !train->disable_tqdm;
    enum isa_level level;
    int n_threads;
    YOKE_TRY(isa_choose(&level));
    YOKE_TRY(choose_threads(session->comm, &n_threads));
    YOKE_TRY(compute_init(&session->compute, level, n_threads));
    if (session->is_first_rank && !session->command->qa.answer) {
        qa_command_explain(session->command);
        log_warning("Process rank: %d, device: cpu, n_gpu: 0, distributed training: %s, 16-bits "
                    "training: False",
                    yoke_comm_rank(session->comm),
                    yoke_comm_size(session->comm) > 1 ? "True" : "False");
        log_info("%d rank(s) of %d thread(s), kernels %s", yoke_comm_size(session->comm), n_threads,
                 isa_level_name(level));
    }
    return YOKE_OK;
}

/* A tokenizer and a configuration of different models would read past the embedding table. */
static yoke_status check_fit(const struct qa_session *session)
{
    const struct model_config *config = &session->config;
    const size_t n_tokens = tokenizer_vocab_size(session->tokenizer);
    if (n_tokens > config->vocab_size) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "the tokenizer has %zu tokens and the model's configuration %zu "
                         "(vocab_size): they belong "
                         "to different models; name the right --tokenizer_name",
                         n_tokens, config->vocab_size);
    }
    if (config->family == MODEL_BERT && config->n_types < 2) {
        return yoke_fail(
            YOKE_ERR_UNSUPPORTED,
            "the model's configuration has type_vocab_size %zu; question answering needs 2",
            config->n_types);
    }
    return YOKE_OK;
}

/* The shortest of what is asked for, what the tokenizer says and what the model can place. */
static void clip_length(struct qa_session *session)
{
    const size_t asked = (size_t)session->command->qa.max_seq_length;
    const size_t tokenizer_limit = tokenizer_model_max_length(session->tokenizer);
    const size_t model_limit = session->config.max_positions;
    const size_t limit = tokenizer_limit < model_limit ? tokenizer_limit : model_limit;
    session->max_seq_length = asked < limit ? asked : limit;
    if (asked > limit && session->is_first_rank && !session->command->qa.answer) {
        log_warning("The max_seq_length passed (%zu) is larger than the maximum length for the "
                    "model (%zu). Using "
                    "max_seq_length=%zu.",
                    asked, limit, limit);
    }
}

/* All ranks read the same files; one of them says what is odd about them. Returns the level to go
 * back to. */
static enum log_level hush(const struct qa_session *session)
{
    const enum log_level level = log_get_level();
    if (!session->is_first_rank) {
        log_set_level(LOG_ERROR);
    }
    return level;
}

static yoke_status open_tokenizer(struct qa_session *session)
{
    const struct qa_options *o = &session->command->qa;
    const enum log_level level = hush(session);
    const yoke_status status = tokenizer_create(
        o->tokenizer_name ? o->tokenizer_name : o->model_name_or_path, &session->tokenizer);
    log_set_level(level);
    return status;
}

yoke_status qa_session_open(struct qa_session *session, const struct qa_command *command)
{
    const struct qa_options *o = &command->qa;
    *session = (struct qa_session){.command = command};
    YOKE_TRY(open_ranks(session));
    YOKE_TRY(model_config_read(o->config_name ? o->config_name : o->model_name_or_path,
                               &session->config));
    YOKE_TRY(open_tokenizer(session));
    YOKE_TRY(check_fit(session));
    clip_length(session);
    return params_init(&session->config, HEAD_QA, &session->params);
}

void qa_session_close(struct qa_session *session)
{
    params_fini(&session->params);
    model_config_fini(&session->config);
    tokenizer_destroy(session->tokenizer);
    compute_fini(&session->compute);
    yoke_comm_destroy(session->comm);
    *session = (struct qa_session){0};
}

yoke_status qa_session_load(struct qa_session *session, const char *folder)
{
    const uint64_t seed = (uint64_t)session->command->train.seed;
    const size_t n = optimizer_n_padded(&session->params, yoke_comm_size(session->comm));
    void *values;
    YOKE_TRY(yoke_comm_alloc(session->comm, n * sizeof(float), &values));
    session->values = values;
    if (!folder) {
        if (session->is_first_rank) {
            log_info("Training new model from scratch");
        }
        params_draw(&session->params, &session->config, seed, session->values);
        return YOKE_OK;
    }
    const enum log_level level = hush(session);
    const yoke_status status =
        params_load(&session->params, &session->config, folder, seed, session->values);
    log_set_level(level);
    return status;
}

yoke_status qa_session_features(const struct qa_session *session, const struct qa_data *data,
                                bool labels, struct qa_features *features)
{
    const struct qa_feature_options options = {
        .max_seq_length = session->max_seq_length,
        .doc_stride = (size_t)session->command->qa.doc_stride,
        .labels = labels,
        .show_progress = session->shows_progress,
        .n_threads = session->compute.n_threads,
    };
    const enum log_level level = hush(session);
    const yoke_status status = qa_features_build(data, session->tokenizer, &options, features);
    log_set_level(level);
    return status;
}

yoke_status qa_session_read(const struct qa_session *session, const char *path, int64_t limit,
                            bool labels, struct qa_data *data, struct qa_features *features)
{
    const size_t most = limit >= 0 ? (size_t)limit : SIZE_MAX;
    YOKE_TRY(qa_data_read(path, most, data));
    YOKE_TRY(yoke_fail_prefix(qa_session_features(session, data, labels, features), "%s", path));
    if (features->n_features > most) {
        features->n_features = most; /* the reference cuts the windows too */
    }
    return YOKE_OK;
}

yoke_status qa_session_logits(const struct qa_session *session, const struct qa_features *features,
                              struct qa_logits *logits)
{
    const struct qa_logits_job job = {
        .comm = session->comm,
        .compute = &session->compute,
        .config = &session->config,
        .params = &session->params,
        .values = session->values,
        .features = features,
        .batch_size = (size_t)session->command->train.per_device_eval_batch_size,
        .show_progress = session->shows_progress,
    };
    return qa_logits_compute(&job, logits);
}

static yoke_status save_arguments(const struct qa_session *session, const char *folder)
{
    json_t *arguments;
    YOKE_TRY(train_options_to_json(&session->command->set, &arguments));
    (void)json_object_del(arguments, "token"); /* a model folder is shared, a key is not */
    char *path = str_path(folder, "training_args.json");
    const yoke_status status =
        path ? json_write_file(path, arguments, 2, false) : YOKE_ERR_NO_MEMORY;
    mem_free(path);
    json_decref(arguments);
    return status;
}

yoke_status qa_session_save(const struct qa_session *session, const char *folder,
                            const char *shown_as)
{
    const char *architecture = params_architecture(session->config.family, session->params.head);
    log_info("Saving model checkpoint to %s", shown_as);
    /* The weights first: when the disk is full, the folder's old files all stay as they were. */
    YOKE_TRY(params_save(&session->params, session->values, folder));
    YOKE_TRY(model_config_write(&session->config, architecture, folder));
    log_info("Configuration saved in %s/config.json", shown_as);
    log_info("Model weights saved in %s/model.safetensors", shown_as);
    YOKE_TRY(tokenizer_save(session->tokenizer, folder));
    return save_arguments(session, folder);
}
