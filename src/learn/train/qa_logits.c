/* Batch j holds the features [j*B, (j+1)*B) whoever computes it; a rank takes a run of batches.
 * Sums of a matrix product may depend on its number of rows, so equal batches are what makes
 * results equal. */
#include "learn/train/qa_logits.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/term/terminal.h"

/* A rank's share of the features and the room that the widest share takes. */
struct share {
    size_t begin, end; /* features of this rank */
    size_t n_floats;   /* of the widest share: what every rank sends */
    struct qa_model *model;
    struct batch batch;
};

void qa_logits_add_feature(const struct qa_features *features, size_t index, struct batch *batch)
{
    const struct qa_feature *feature = &features->features[index];
    batch_add(batch, (uint32_t)index, feature->n_tokens, feature->ids, feature->types,
              feature->start, feature->end);
}

static int compare_descending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

yoke_status qa_logits_largest_batch(const struct qa_features *features, size_t n,
                                    size_t *max_tokens_out, size_t *max_len_out)
{
    uint32_t *lengths;
    YOKE_TRY(MEM_NEW(lengths, features->n_features));
    for (size_t i = 0; i < features->n_features; i++) {
        lengths[i] = features->features[i].n_tokens;
    }
    qsort(lengths, features->n_features, sizeof *lengths, compare_descending);
    size_t sum = 0;
    for (size_t i = 0; i < n && i < features->n_features; i++) {
        sum += lengths[i];
    }
    *max_tokens_out = sum;
    *max_len_out = features->n_features ? lengths[0] : 0;
    mem_free(lengths);
    return YOKE_OK;
}

static size_t share_begin(const struct qa_logits_job *job, int rank)
{
    const size_t n = job->features->n_features;
    const size_t n_batches = (n + job->batch_size - 1) / job->batch_size;
    const size_t first =
        n_batches * (size_t)rank / (size_t)yoke_comm_size(job->comm) * job->batch_size;
    return first < n ? first : n;
}

static size_t share_floats(const struct qa_logits_job *job, int rank)
{
    size_t n = 0;
    for (size_t i = share_begin(job, rank); i < share_begin(job, rank + 1); i++) {
        n += 2 * (size_t)job->features->features[i].n_tokens;
    }
    return n;
}

static yoke_status open_share(const struct qa_logits_job *job, struct share *share)
{
    const int rank = yoke_comm_rank(job->comm);
    share->begin = share_begin(job, rank);
    share->end = share_begin(job, rank + 1);
    for (int r = 0; r < yoke_comm_size(job->comm); r++) {
        const size_t n = share_floats(job, r);
        share->n_floats = n > share->n_floats ? n : share->n_floats;
    }
    size_t max_tokens, max_len;
    YOKE_TRY(qa_logits_largest_batch(job->features, job->batch_size, &max_tokens, &max_len));
    YOKE_TRY(batch_init(&share->batch, max_tokens, job->batch_size));
    return qa_model_create(job->config, job->params, job->compute, max_tokens, job->batch_size,
                           max_len, false, &share->model);
}

static void close_share(struct share *share)
{
    qa_model_destroy(share->model);
    batch_fini(&share->batch);
}

static yoke_status compute_share(const struct qa_logits_job *job, struct share *share, float *out)
{
    struct progress progress;
    const size_t n_batches = (share->end - share->begin + job->batch_size - 1) / job->batch_size;
    progress_start(&progress, "Evaluation", "batch", (int64_t)n_batches, job->show_progress);
    size_t done = 0;
    yoke_status status = YOKE_OK;
    for (size_t i = share->begin; i < share->end; i += job->batch_size) {
        const size_t end = i + job->batch_size < share->end ? i + job->batch_size : share->end;
        batch_clear(&share->batch);
        for (size_t k = i; k < end; k++) {
            qa_logits_add_feature(job->features, k, &share->batch);
        }
        const float *logits;
        status = qa_model_predict(share->model, job->values, &share->batch, &logits);
        if (status < 0) {
            break;
        }
        memcpy(out, logits, 2 * share->batch.n_tokens * sizeof *out);
        out += 2 * share->batch.n_tokens;
        progress_show(&progress, (int64_t)++done, NULL);
    }
    progress_finish(&progress, (int64_t)done, NULL);
    return status;
}

static void point_to_features(const struct qa_logits_job *job, size_t n_floats,
                              struct qa_logits *logits)
{
    for (int r = 0; r < yoke_comm_size(job->comm); r++) {
        const float *next = logits->values + (size_t)r * n_floats;
        for (size_t i = share_begin(job, r); i < share_begin(job, r + 1); i++) {
            logits->features[i] = next;
            next += 2 * (size_t)job->features->features[i].n_tokens;
        }
    }
}

yoke_status qa_logits_compute(const struct qa_logits_job *job, struct qa_logits *logits_out)
{
    struct share share = {0};
    struct qa_logits logits = {0};
    yoke_status status;
    YOKE_TRY_GOTO(open_share(job, &share));
    const size_t size = (size_t)yoke_comm_size(job->comm);
    YOKE_TRY_GOTO(MEM_NEW(logits.values, size * share.n_floats));
    YOKE_TRY_GOTO(MEM_NEW(logits.features, job->features->n_features));
    float *own = logits.values + (size_t)yoke_comm_rank(job->comm) * share.n_floats;
    YOKE_TRY_GOTO(compute_share(job, &share, own));
    YOKE_TRY_GOTO(yoke_comm_allgather(job->comm, own, logits.values, share.n_floats, YOKE_FLOAT32));
    point_to_features(job, share.n_floats, &logits);
    *logits_out = logits;
done:
    close_share(&share);
    if (status < 0) {
        qa_logits_fini(&logits);
    }
    return status;
}

void qa_logits_fini(struct qa_logits *logits)
{
    mem_free(logits->values);
    mem_free(logits->features);
    *logits = (struct qa_logits){0};
}
