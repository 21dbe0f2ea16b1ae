/* The front matter is YAML that the hub reads; the tag generated_from_trainer marks a card as made
 * by a program. */
#include "learn/train/model_card.h"

#include <string.h>

#include "base/core/file.h"
#include "base/core/log.h"
#include "base/core/memory.h"

static const char mark[] = "generated_from_trainer";

static yoke_status append_front_matter(const struct model_card *card, const char *name,
                                       struct str *text)
{
    YOKE_TRY(str_printf(text, "---\nlibrary_name: transformers\n"));
    if (card->base_model) {
        YOKE_TRY(str_printf(text, "base_model: "));
        YOKE_TRY(json_append_string(text, card->base_model)); /* a JSON string is a YAML string */
        YOKE_TRY(str_printf(text, "\n"));
    }
    YOKE_TRY(str_printf(text, "pipeline_tag: %s\ntags:\n- %s\nmodel-index:\n- name: ", card->task,
                        mark));
    YOKE_TRY(json_append_string(text, name));
    return str_printf(text, "\n  results: []\n---\n\n");
}

static yoke_status append_parameters(const struct model_card *card, struct str *text)
{
    const struct train_options *o = card->options;
    const long long total =
        (long long)o->per_device_train_batch_size * o->gradient_accumulation_steps * card->n_ranks;
    static const char *const schedules[] = {"linear", "constant", "constant_with_warmup"};
    char number[32];
    YOKE_TRY(str_printf(text, "## Training hyperparameters\n\n- learning_rate: %s\n",
                        json_format_double(o->learning_rate, number)));
    YOKE_TRY(str_printf(text, "- train_batch_size: %lld\n- eval_batch_size: %lld\n- seed: %lld\n",
                        (long long)o->per_device_train_batch_size,
                        (long long)o->per_device_eval_batch_size, (long long)o->seed));
    YOKE_TRY(str_printf(
        text,
        "- num_devices: %d\n- gradient_accumulation_steps: %lld\n- total_train_batch_size: %lld\n",
        card->n_ranks, (long long)o->gradient_accumulation_steps, total));
    YOKE_TRY(str_printf(text,
                        "- optimizer: AdamW with betas=(%g,%g), epsilon=%g and weight_decay=%g\n",
                        o->adam_beta1, o->adam_beta2, o->adam_epsilon, o->weight_decay));
    YOKE_TRY(str_printf(text, "- lr_scheduler_type: %s\n", schedules[train_options_schedule(o)]));
    if (o->max_steps > 0) {
        return str_printf(text, "- training_steps: %lld\n\n", (long long)o->max_steps);
    }
    return str_printf(text, "- num_epochs: %s\n\n",
                      json_format_double(o->num_train_epochs, number));
}

static yoke_status append_results(const json_t *results, struct str *text)
{
    const char *key;
    json_t *value;
    char number[32];
    YOKE_TRY(str_printf(text, "## Results\n\n"));
    json_object_foreach((json_t *)results, key, value)
    {
        if (json_is_integer(value)) {
            YOKE_TRY(str_printf(text, "- %s: %lld\n", key, (long long)json_integer_value(value)));
        } else if (json_is_real(value)) {
            YOKE_TRY(str_printf(text, "- %s: %s\n", key,
                                json_format_double(json_real_value(value), number)));
        }
    }
    return YOKE_OK;
}

yoke_status model_card_format(const struct model_card *card, const char *name, struct str *text)
{
    YOKE_TRY(append_front_matter(card, name, text));
    YOKE_TRY(str_printf(text, "# %s\n\n", name));
    if (card->base_model) {
        YOKE_TRY(str_printf(text, "Fine-tuned from `%s` for %s with yoke.\n\n", card->base_model,
                            card->task));
    } else {
        YOKE_TRY(str_printf(text, "Trained from fresh weights for %s with yoke.\n\n", card->task));
    }
    YOKE_TRY(append_parameters(card, text));
    return append_results(card->results, text);
}

static yoke_status is_somebodys(const char *path, bool *somebodys_out)
{
    *somebodys_out = false;
    if (!file_exists(path)) {
        return YOKE_OK;
    }
    struct file_map map;
    YOKE_TRY(file_map_open(path, &map));
    char *text = mem_strndup((const char *)map.data, map.size_bytes);
    file_map_close(&map);
    if (!text) {
        return YOKE_ERR_NO_MEMORY;
    }
    *somebodys_out = strstr(text, mark) == NULL;
    mem_free(text);
    return YOKE_OK;
}

/* "out" of "runs/out/". */
static char *last_part(const char *folder)
{
    size_t end = strlen(folder);
    while (end > 1 && folder[end - 1] == '/') {
        end--;
    }
    size_t begin = end;
    while (begin > 0 && folder[begin - 1] != '/') {
        begin--;
    }
    return mem_strndup(folder + begin, end - begin);
}

yoke_status model_card_write(const struct model_card *card, const char *folder)
{
    struct str text = {0};
    char *path = str_path(folder, "README.md");
    char *name = last_part(folder);
    bool somebodys;
    yoke_status status = path && name ? YOKE_OK : YOKE_ERR_NO_MEMORY;
    YOKE_TRY_GOTO(status);
    YOKE_TRY_GOTO(is_somebodys(path, &somebodys));
    if (somebodys) {
        log_info("%s is not a model card of a training run; it is left as it is.", path);
        goto done;
    }
    YOKE_TRY_GOTO(model_card_format(card, name, &text));
    status = file_write_all(path, text.text, text.len);
done:
    str_fini(&text);
    mem_free(path);
    mem_free(name);
    return status;
}
