/* Options, declared once.
 *
 * An option is one record: name, type, default, range, group, one sentence, place in a struct. From
 * the records come the command line's flags, the values with their source, and the help page.
 * Precedence: flag > environment > file > default. A value out of range is an error that prints the
 * range; an unknown name is an error that names the nearest one. */
#ifndef BASE_OPTIONS_OPTION_H
#define BASE_OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/status.h"

enum option_type {
    OPTION_BOOL,   /* bool */
    OPTION_INT,    /* int64_t */
    OPTION_FLOAT,  /* double */
    OPTION_STRING, /* const char *, NULL when unset; lives as long as the set */
    OPTION_CHOICE, /* int: index into the choices */
};

enum option_source { OPTION_FROM_DEFAULT, OPTION_FROM_FILE, OPTION_FROM_ENV, OPTION_FROM_FLAG };

struct option_def {
    const char *name;    /* "num_train_epochs"; on the command line '-' and '_' are the same */
    const char *aliases; /* other names, "a,b", or NULL; one of a bool that begins with ! negates */
    enum option_type type;
    const char *default_text; /* NULL: unset (strings only) */
    const char *range;        /* numbers: "1..", "0..1", ">0", or NULL; choices: "no,steps,epoch" */
    const char *env;          /* environment variable, or NULL */
    const char *group;        /* heading of the help page */
    const char *doc;          /* one sentence */
    size_t offset;            /* of the field in the struct of its table */
};

/* A table of records and the struct that they fill. Several tables make one command line. */
struct option_table {
    const struct option_def *defs;
    size_t n_defs;
    void *values;
};

enum { OPTION_MAX_TABLES = 8, OPTION_MAX = 256 };

/* Working state: tables, each option's source, and the text that string values point to. */
struct option_set {
    struct option_table tables[OPTION_MAX_TABLES];
    size_t n_tables;
    unsigned char sources[OPTION_MAX];
    char **texts; /* owned copies */
    size_t n_texts;
    size_t texts_capacity;
};

/* Lists the tables and gives every option its default, then its environment variable's value. */
yoke_status option_set_init(struct option_set *set, const struct option_table *tables,
                            size_t n_tables) YOKE_MUST_USE;
void option_set_fini(struct option_set *set);

/* Sets one option by name (or alias, or unique prefix) from text. `text` NULL means the bare flag:
 * true for a bool, an error otherwise. A value of weaker source than the present one is dropped. */
yoke_status option_set_value(struct option_set *set, const char *name, const char *text,
                             enum option_source source) YOKE_MUST_USE;

/* Reads `--name`, `--name value`, `--name=value`, `--no_name` (bools that default to true) from
 * argv[0..argc-1]. A bool takes a following word only if it reads as one
 * (true/false/yes/no/1/0/t/f/y/n). Words that belong to no flag are an error unless `rest_out` is
 * not NULL: then reading stops at the first one and *rest_out is its index (argc when none). */
yoke_status option_set_parse(struct option_set *set, int argc, char **argv,
                             int *rest_out) YOKE_MUST_USE;

/* Where the option's value came from; `name` must be one of the records' names. */
enum option_source option_set_source(const struct option_set *set, const char *name);

/* The choice of that index as it is written. Owned by the caller (mem_free); NULL without memory.
 */
char *option_choice_text(const struct option_def *def, int index);

/* The help page on standard output: one heading a group, one option with its default and sentence.
 */
void option_set_help(const struct option_set *set);

/* Prints "unknown X 'NAME'; did you mean 'NEAREST'?" into the error. `names` ends with NULL. */
yoke_status option_fail_unknown(const char *what, const char *name,
                                const char *const *names) YOKE_MUST_USE;

#endif
