/* Tokenizing and windowing.
 *
 * Consecutive examples with one context form a group: its context is tokenized once, and groups are
 * what threads share out. Windows hold their own token ids, but borrow the rest: the offsets of a
 * context lie once in memory, with room in front, so that a window's offset arrays can begin where
 * the window's first token would if the context came first; the token types of all windows are cuts
 * of one array of zeros followed by ones. This keeps a feature near four bytes a token. */
#include "learn/task/qa_features.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/term/terminal.h"

enum {
    N_SPECIAL_TOKENS = 3, /* [CLS] question [SEP] context [SEP] */
    MAX_GROUP = 64, /* examples: a long context asked about often still occupies all threads */
    POOL_BLOCK_BYTES = 1 << 20,
};

/* Memory that is only ever given back as a whole: a chain of blocks, one chain a thread. */
struct pool_block {
    struct pool_block *next;
    size_t used_bytes, size_bytes;
    _Alignas(16) unsigned char bytes[];
};

struct qa_features_storage {
    struct pool_block **pools; /* [n_pools] */
    size_t n_pools;
    uint8_t *types; /* [2*max_seq_length]: zeros, then ones */
};

/* The windows of one example, in a pool. */
struct example_windows {
    struct qa_feature *features;
    size_t n;
    bool clamped;
};

/* The failure of the earliest group: the same one whatever the number of threads. */
struct failure {
    atomic_size_t group; /* SIZE_MAX at first; later groups need not be built. Relaxed: a hint */
    yoke_status status;
    char message[1024];
};

struct build {
    const struct qa_data *data;
    const struct tokenizer *tokenizer;
    const struct qa_feature_options *options;
    struct qa_features_storage *storage;
    struct example_windows *windows; /* [n_examples] */
    size_t *groups;                  /* [n_groups+1] first example of each */
    size_t n_groups;
    struct failure failure;
    atomic_size_t n_done; /* examples; relaxed: only the progress bar reads it while threads run */
    struct progress progress;
};

struct worker {
    struct pool_block **pool;
    struct token_list context, question;
    uint32_t *begins,
        *ends; /* offsets of the context's tokens, in the pool, max_seq_length of room before */
};

static void *pool_push(struct pool_block **pool, size_t n, size_t size)
{
    const size_t bytes = (n * size + 15) / 16 * 16;
    if (!*pool || (*pool)->size_bytes - (*pool)->used_bytes < bytes) {
        const size_t size_bytes = bytes > POOL_BLOCK_BYTES ? bytes : POOL_BLOCK_BYTES;
        struct pool_block *block = mem_calloc(1, sizeof *block + size_bytes);
        if (!block) {
            return NULL;
        }
        block->next = *pool;
        block->size_bytes = size_bytes;
        *pool = block;
    }
    void *piece = (*pool)->bytes + (*pool)->used_bytes;
    (*pool)->used_bytes += bytes;
    return piece;
}

static bool shares_context(const struct qa_example *a, const struct qa_example *b)
{
    return a->context == b->context || (a->context_bytes == b->context_bytes &&
                                        memcmp(a->context, b->context, a->context_bytes) == 0);
}

static yoke_status group_examples(struct build *build)
{
    const struct qa_data *data = build->data;
    YOKE_TRY(MEM_NEW(build->groups, data->n_examples + 1));
    for (size_t i = 0; i < data->n_examples; i++) {
        const bool begins = i == 0 || !shares_context(&data->examples[i - 1], &data->examples[i]) ||
                            i - build->groups[build->n_groups - 1] >= MAX_GROUP;
        if (begins) {
            build->groups[build->n_groups++] = i;
        }
    }
    build->groups[build->n_groups] = data->n_examples;
    return YOKE_OK;
}

static yoke_status encode_context(const struct build *build, struct worker *worker,
                                  const struct qa_example *example)
{
    struct token_list *tokens = &worker->context;
    const size_t room = build->options->max_seq_length;
    YOKE_TRY(tokenizer_encode(build->tokenizer, example->context, example->context_bytes, tokens));
    uint32_t *begins = pool_push(worker->pool, room + tokens->n, sizeof *begins);
    uint32_t *ends = pool_push(worker->pool, room + tokens->n, sizeof *ends);
    if (!begins || !ends) {
        return YOKE_ERR_NO_MEMORY;
    }
    worker->begins = begins + room;
    worker->ends = ends + room;
    if (tokens->n) {
        memcpy(worker->begins, tokens->begins, tokens->n * sizeof *begins);
        memcpy(worker->ends, tokens->ends, tokens->n * sizeof *ends);
    }
    return YOKE_OK;
}

/* Positions of the first answer: the last token that begins at or before it, the first from which
 * on all tokens end at or behind its end. An answer that the window does not hold whole leaves both
 * on [CLS].
 *
 * The reference's search for the start runs on over [SEP] and padding, whose offsets are zero, when
 * the answer begins in the window's last token, and then labels a padded position. There is no such
 * position here, and nothing to be learnt from one: the search ends with the window. */
static void set_labels(struct qa_feature *feature, const struct qa_answer *answer)
{
    const uint32_t first = feature->context_begin;
    const uint32_t last = feature->context_end - 1;
    const uint32_t begin = answer->start;
    const uint32_t end = answer->start + answer->n_codepoints;
    if (feature->context_begin == feature->context_end || feature->offset_begins[first] > begin ||
        feature->offset_ends[last] < end) {
        return;
    }
    feature->start = first;
    while (feature->start < last && feature->offset_begins[feature->start + 1] <= begin) {
        feature->start++;
    }
    feature->end = last;
    while (feature->end > first && feature->offset_ends[feature->end - 1] >= end) {
        feature->end--;
    }
}

/* The window of context tokens [begin, begin + n). */
static yoke_status cut_window(const struct build *build, const struct worker *worker,
                              size_t example, size_t begin, size_t n, struct qa_feature *feature)
{
    const struct token_list *question = &worker->question;
    const size_t n_before = question->n + 2;
    uint32_t *ids = pool_push(worker->pool, question->n + n + N_SPECIAL_TOKENS, sizeof *ids);
    if (!ids) {
        return YOKE_ERR_NO_MEMORY;
    }
    ids[0] = tokenizer_cls_id(build->tokenizer);
    if (question->n) {
        memcpy(ids + 1, question->ids, question->n * sizeof *ids);
    }
    ids[n_before - 1] = tokenizer_sep_id(build->tokenizer);
    if (n) {
        memcpy(ids + n_before, worker->context.ids + begin, n * sizeof *ids);
    }
    ids[n_before + n] = tokenizer_sep_id(build->tokenizer);
    *feature = (struct qa_feature){
        .example = (uint32_t)example,
        .n_tokens = (uint32_t)(n_before + n + 1),
        .context_begin = (uint32_t)n_before,
        .context_end = (uint32_t)(n_before + n),
        .ids = ids,
        .types = build->storage->types + build->options->max_seq_length - n_before,
        .offset_begins = worker->begins + begin - n_before,
        .offset_ends = worker->ends + begin - n_before,
    };
    return YOKE_OK;
}

/* Room for context beside the question, and the stride that fits it. */
static yoke_status measure(const struct build *build, struct worker *worker, size_t *room_out,
                           size_t *stride_out)
{
    const size_t taken = worker->question.n + N_SPECIAL_TOKENS;
    const size_t max = build->options->max_seq_length;
    if (taken >= max) {
        return yoke_fail(YOKE_ERR_INVALID,
                         "the question has %zu tokens, which leaves no room for the context within "
                         "max_seq_length %zu; raise --max_seq_length or shorten the question",
                         worker->question.n, max);
    }
    *room_out = max - taken;
    *stride_out =
        build->options->doc_stride < *room_out ? build->options->doc_stride : *room_out - 1;
    return YOKE_OK;
}

static yoke_status check_answered(const struct qa_example *example)
{
    if (example->n_answers == 0 || example->answers[0].n_codepoints == 0) {
        return yoke_fail(
            YOKE_ERR_UNSUPPORTED,
            "the question has no answer to learn from; unanswerable questions "
            "(--version_2_with_negative) come with a later version, remove them until then");
    }
    return YOKE_OK;
}

static yoke_status build_example(struct build *build, struct worker *worker, size_t index)
{
    const struct qa_example *example = &build->data->examples[index];
    struct example_windows *windows = &build->windows[index];
    const size_t n_context = worker->context.n;
    size_t room, stride;
    YOKE_TRY(build->options->labels ? check_answered(example) : YOKE_OK);
    YOKE_TRY(tokenizer_encode(build->tokenizer, example->question, example->question_bytes,
                              &worker->question));
    YOKE_TRY(measure(build, worker, &room, &stride));
    const size_t n_windows = tokenizer_n_windows(n_context, room, stride);
    windows->clamped = n_windows > 1 && stride < build->options->doc_stride;
    windows->features = pool_push(worker->pool, n_windows, sizeof *windows->features);
    if (!windows->features) {
        return YOKE_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < n_windows; i++) {
        const size_t begin = i * (room - stride);
        const size_t n = n_context - begin < room ? n_context - begin : room;
        YOKE_TRY(cut_window(build, worker, index, begin, n, &windows->features[i]));
        if (build->options->labels) {
            set_labels(&windows->features[i], &example->answers[0]);
        }
    }
    windows->n = n_windows;
    return YOKE_OK;
}

static yoke_status build_group(struct build *build, struct worker *worker, size_t group)
{
    const size_t first = build->groups[group];
    const size_t end = build->groups[group + 1];
    const char *id = build->data->examples[first].id;
    YOKE_TRY(yoke_fail_prefix(encode_context(build, worker, &build->data->examples[first]),
                              "question %s", id));
    for (size_t i = first; i < end; i++) {
        id = build->data->examples[i].id;
        YOKE_TRY(yoke_fail_prefix(build_example(build, worker, i), "question %s", id));
    }
    atomic_fetch_add_explicit(&build->n_done, end - first, memory_order_relaxed);
    return YOKE_OK;
}

/* Messages belong to the thread that failed: the earliest one is carried over. */
static void note_failure(struct build *build, size_t group, yoke_status status)
{
#pragma omp critical(qa_features_failure)
    if (group < atomic_load_explicit(&build->failure.group, memory_order_relaxed)) {
        atomic_store_explicit(&build->failure.group, group, memory_order_relaxed);
        build->failure.status = status;
        strncpy(build->failure.message, yoke_last_error(), sizeof build->failure.message - 1);
    }
}

static yoke_status run_threads(struct build *build)
{
    progress_start(&build->progress, "Tokenizing", "question", (int64_t)build->data->n_examples,
                   build->options->show_progress);
#pragma omp parallel num_threads(build->options->n_threads)
    {
        struct worker worker = {.pool = &build->storage->pools[omp_get_thread_num()]};
#pragma omp for schedule(dynamic, 1)
        for (size_t group = 0; group < build->n_groups; group++) {
            if (group > atomic_load_explicit(&build->failure.group, memory_order_relaxed)) {
                continue;
            }
            const yoke_status status = build_group(build, &worker, group);
            if (status < 0) {
                note_failure(build, group, status);
            } else if (omp_get_thread_num() == 0) {
                progress_show(&build->progress,
                              (int64_t)atomic_load_explicit(&build->n_done, memory_order_relaxed),
                              NULL);
            }
        }
        token_list_fini(&worker.context);
        token_list_fini(&worker.question);
    }
    progress_finish(&build->progress, (int64_t)atomic_load(&build->n_done), NULL);
    return build->failure.status == YOKE_OK
               ? YOKE_OK
               : yoke_fail(build->failure.status, "%s", build->failure.message);
}

static yoke_status collect(const struct build *build, struct qa_features *features)
{
    for (size_t i = 0; i < build->data->n_examples; i++) {
        features->n_features += build->windows[i].n;
        features->n_clamped += build->windows[i].clamped;
    }
    YOKE_TRY(MEM_NEW(features->features, features->n_features));
    size_t next = 0;
    for (size_t i = 0; i < build->data->n_examples; i++) {
        memcpy(features->features + next, build->windows[i].features,
               build->windows[i].n * sizeof *features->features);
        next += build->windows[i].n;
    }
    if (features->n_clamped) {
        log_warning(
            "A stride of %zu does not fit beside %zu long question(s); their windows overlap by "
            "as many tokens as fit.",
            build->options->doc_stride, features->n_clamped);
    }
    return YOKE_OK;
}

static yoke_status open_storage(const struct qa_feature_options *options,
                                struct qa_features_storage **storage_out)
{
    struct qa_features_storage *storage;
    YOKE_TRY(MEM_NEW(storage, 1));
    *storage_out = storage;
    YOKE_TRY(MEM_NEW(storage->pools, (size_t)options->n_threads));
    storage->n_pools = (size_t)options->n_threads;
    YOKE_TRY(MEM_NEW(storage->types, 2 * options->max_seq_length));
    memset(storage->types + options->max_seq_length, 1, options->max_seq_length);
    return YOKE_OK;
}

yoke_status qa_features_build(const struct qa_data *data, const struct tokenizer *tokenizer,
                              const struct qa_feature_options *options,
                              struct qa_features *features_out)
{
    struct qa_features features = {0};
    struct build build = {.data = data, .tokenizer = tokenizer, .options = options};
    yoke_status status;
    atomic_store(&build.failure.group, SIZE_MAX);
    YOKE_TRY_GOTO(open_storage(options, &build.storage));
    YOKE_TRY_GOTO(MEM_NEW(build.windows, data->n_examples));
    YOKE_TRY_GOTO(group_examples(&build));
    YOKE_TRY_GOTO(run_threads(&build));
    YOKE_TRY_GOTO(collect(&build, &features));
done:
    features.storage = build.storage;
    mem_free(build.windows);
    mem_free(build.groups);
    if (status < 0) {
        qa_features_fini(&features);
    } else {
        *features_out = features;
    }
    return status;
}

void qa_features_fini(struct qa_features *features)
{
    struct qa_features_storage *storage = features->storage;
    if (storage) {
        for (size_t i = 0; i < storage->n_pools; i++) {
            for (struct pool_block *block = storage->pools[i], *next; block; block = next) {
                next = block->next;
                mem_free(block);
            }
        }
        mem_free(storage->pools);
        mem_free(storage->types);
        mem_free(storage);
    }
    mem_free(features->features);
    *features = (struct qa_features){0};
}
