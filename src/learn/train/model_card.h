/* README.md of a trained model: what the reference's model card says, for people and for the hub's
 * front matter. */
#ifndef LEARN_TRAIN_MODEL_CARD_H
#define LEARN_TRAIN_MODEL_CARD_H

#include "learn/format/json.h"
#include "learn/train/train_options.h"

struct model_card {
    const char *base_model; /* what was fine-tuned; NULL: fresh weights */
    const char *task;       /* "question-answering" */
    int n_ranks;
    const struct train_options *options;
    const json_t *results; /* metrics of training and evaluation */
};

/* Appends the card's text. `name` is the model's. */
yoke_status model_card_format(const struct model_card *card, const char *name,
                              struct str *text) YOKE_MUST_USE;

/* Writes FOLDER/README.md. A README.md that is not a model card of the reference or of this program
 * is somebody's own and stays; a log line says so. */
yoke_status model_card_write(const struct model_card *card, const char *folder) YOKE_MUST_USE;

#endif
