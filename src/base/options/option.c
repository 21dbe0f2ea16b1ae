/* The option table at work.
 *
 * A name on the command line is looked up among *spellings*: the record's name, its aliases and,
 * for a bool that is true by default, "no_NAME". An exact spelling wins; else a prefix counts when
 * all spellings that it begins belong to one record with one meaning (argparse allows the same).
 * Values are parsed and checked before their source is weighed, so a bad value is an error even
 * where a stronger source would hide it. */
#include "base/options/option.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/core/env.h"
#include "base/core/memory.h"
#include "base/core/str.h"

enum { NAME_BYTES = 64, MAX_SPELLINGS = 8, HELP_COLUMN = 34, HELP_WIDTH = 100 };

struct spelling {
    char text[NAME_BYTES];
    bool negates;
};

/* A record found: where it stands, and whether the spelling used turns it off. */
struct found {
    const struct option_table *table;
    const struct option_def *def;
    size_t index; /* over all tables: the place in `sources` */
    bool negates;
};

struct number_range {
    double least;
    double most;
    bool open; /* `least` itself is outside */
};

/* ---- names ---- */

static void copy_name(char out[static NAME_BYTES], const char *name, size_t n)
{
    if (n >= NAME_BYTES) {
        n = 0; /* no option has such a name: the empty one is never found */
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = name[i] == '-' ? '_' : name[i];
    }
    out[n] = '\0';
}

static bool defaults_to_true(const struct option_def *def)
{
    return def->type == OPTION_BOOL && strcasecmp(def->default_text, "true") == 0;
}

static size_t list_spellings(const struct option_def *def,
                             struct spelling out[static MAX_SPELLINGS])
{
    size_t n = 0;
    copy_name(out[n].text, def->name, strlen(def->name));
    out[n++].negates = false;
    if (defaults_to_true(def)) {
        snprintf(out[n].text, NAME_BYTES, "no_%.60s", out[0].text);
        out[n++].negates = true;
    }
    for (const char *alias = def->aliases; alias && *alias && n < MAX_SPELLINGS;) {
        const size_t length = strcspn(alias, ",");
        out[n].negates = *alias == '!';
        copy_name(out[n].text, alias + out[n].negates, length - out[n].negates);
        n++;
        alias += length + (alias[length] == ',');
    }
    return n;
}

static unsigned distance_limit(const char *name)
{
    const size_t n = strlen(name);
    return n < 3 ? 1 : n < 6 ? 2 : (unsigned)(n / 3);
}

/* Edit distance to the known name, or to its beginning: an abbreviation may be misspelt as well. */
static unsigned find_distance(const char *name, const char *known)
{
    char beginning[NAME_BYTES];
    const unsigned whole = str_distance(name, known);
    snprintf(beginning, sizeof beginning, "%.*s", (int)strnlen(name, NAME_BYTES - 1), known);
    const unsigned part = str_distance(name, beginning) + 1; /* a whole name is the better guess */
    return whole < part ? whole : part;
}

/* The known name with the smallest distance, when it is near enough to be meant. */
static void keep_nearest(const char *name, const char *known, unsigned *best,
                         char nearest[static NAME_BYTES])
{
    const unsigned distance = find_distance(name, known);
    if (distance < *best && distance <= distance_limit(name)) {
        *best = distance;
        snprintf(nearest, NAME_BYTES, "%.*s", NAME_BYTES - 1, known);
    }
}

yoke_status option_fail_unknown(const char *what, const char *name, const char *const *names)
{
    char nearest[NAME_BYTES] = "";
    unsigned best = UINT32_MAX;
    for (size_t i = 0; names[i]; i++) {
        keep_nearest(name, names[i], &best, nearest);
    }
    if (nearest[0]) {
        return yoke_fail(YOKE_ERR_INVALID, "unknown %s '%s'; did you mean '%s'?", what, name,
                         nearest);
    }
    return yoke_fail(YOKE_ERR_INVALID, "unknown %s '%s'; --help lists them", what, name);
}

static const char *dashes(enum option_source source)
{
    return source == OPTION_FROM_FLAG ? "--" : "";
}

static yoke_status fail_unknown_option(const struct option_set *set, const char *name,
                                       enum option_source source)
{
    char wanted[NAME_BYTES];
    char nearest[NAME_BYTES] = "";
    unsigned best = UINT32_MAX;
    copy_name(wanted, name, strlen(name));
    for (size_t t = 0; t < set->n_tables; t++) {
        for (size_t i = 0; i < set->tables[t].n_defs; i++) {
            struct spelling spellings[MAX_SPELLINGS];
            const size_t n = list_spellings(&set->tables[t].defs[i], spellings);
            for (size_t s = 0; s < n; s++) {
                keep_nearest(wanted, spellings[s].text, &best, nearest);
            }
        }
    }
    const char *mark = dashes(source);
    if (nearest[0]) {
        return yoke_fail(YOKE_ERR_INVALID, "unknown option '%s%s'; did you mean '%s%s'?", mark,
                         name, mark, nearest);
    }
    return yoke_fail(YOKE_ERR_INVALID, "unknown option '%s%s'; --help lists them", mark, name);
}

static yoke_status find_option(const struct option_set *set, const char *name,
                               enum option_source source, struct found *found_out)
{
    char wanted[NAME_BYTES];
    copy_name(wanted, name, strlen(name));
    const size_t length = strlen(wanted);
    struct found found = {0};
    char first[NAME_BYTES] = "";
    char other[NAME_BYTES] = "";
    size_t index = 0;
    for (size_t t = 0; t < set->n_tables; t++) {
        const struct option_table *table = &set->tables[t];
        for (size_t i = 0; i < table->n_defs; i++, index++) {
            struct spelling spellings[MAX_SPELLINGS];
            const size_t n = list_spellings(&table->defs[i], spellings);
            for (size_t s = 0; s < n; s++) {
                const struct found here = {table, &table->defs[i], index, spellings[s].negates};
                if (length == 0 || strncmp(spellings[s].text, wanted, length) != 0) {
                    continue;
                }
                if (spellings[s].text[length] == '\0') {
                    *found_out = here;
                    return YOKE_OK;
                }
                if (!found.def) {
                    found = here;
                    memcpy(first, spellings[s].text, NAME_BYTES);
                } else if (found.def != here.def || found.negates != here.negates) {
                    memcpy(other, spellings[s].text, NAME_BYTES);
                }
            }
        }
    }
    if (other[0]) {
        const char *mark = dashes(source);
        return yoke_fail(YOKE_ERR_INVALID, "option '%s%s' is short for both '%s%s' and '%s%s'",
                         mark, name, mark, first, mark, other);
    }
    if (!found.def) {
        return fail_unknown_option(set, name, source);
    }
    *found_out = found;
    return YOKE_OK;
}

/* ---- values ---- */

static bool parse_bool(const char *text, bool *value_out)
{
    static const char *const words[2][5] = {{"false", "no", "0", "f", "n"},
                                            {"true", "yes", "1", "t", "y"}};
    for (int value = 0; value < 2; value++) {
        for (size_t i = 0; i < 5; i++) {
            if (strcasecmp(text, words[value][i]) == 0) {
                *value_out = value;
                return true;
            }
        }
    }
    return false;
}

static double parse_bound(const char *text, size_t n, double unbounded)
{
    char bound[NAME_BYTES];
    double value;
    snprintf(bound, sizeof bound, "%.*s", (int)n, text);
    return str_to_double(bound, &value) ? value : unbounded;
}

static struct number_range parse_range(const char *text)
{
    const double infinity = __builtin_inf();
    if (!text) {
        return (struct number_range){-infinity, infinity, false};
    }
    if (*text == '>') {
        return (struct number_range){parse_bound(text + 1, strlen(text + 1), -infinity), infinity,
                                     true};
    }
    const char *dots = strstr(text, "..");
    const size_t n = dots ? (size_t)(dots - text) : strlen(text);
    return (struct number_range){
        parse_bound(text, n, -infinity),
        dots ? parse_bound(dots + 2, strlen(dots + 2), infinity) : infinity, false};
}

static bool in_range(const char *range_text, double value)
{
    const struct number_range range = parse_range(range_text);
    return (range.open ? value > range.least : value >= range.least) && value <= range.most;
}

static int find_choice(const char *choices, const char *text)
{
    int index = 0;
    for (const char *choice = choices; *choice; index++) {
        const size_t n = strcspn(choice, ",");
        if (strlen(text) == n && strncmp(choice, text, n) == 0) {
            return index;
        }
        choice += n + (choice[n] == ',');
    }
    return -1;
}

static const char *type_phrase(enum option_type type)
{
    static const char *const phrases[] = {
        [OPTION_BOOL] = "true or false", [OPTION_INT] = "a whole number",
        [OPTION_FLOAT] = "a number",     [OPTION_STRING] = "a text",
        [OPTION_CHOICE] = "one of",
    };
    return phrases[type];
}

static yoke_status fail_value(const struct option_def *def, const char *text,
                              enum option_source source)
{
    const char *range = def->range ? def->range : "";
    const char *gap = !def->range ? "" : def->type == OPTION_CHOICE ? " " : " in ";
    if (source == OPTION_FROM_ENV) {
        return yoke_fail(YOKE_ERR_CONFIG, "%s='%s' in the environment: expected %s%s%s", def->env,
                         text, type_phrase(def->type), gap, range);
    }
    return yoke_fail(source == OPTION_FROM_FLAG ? YOKE_ERR_INVALID : YOKE_ERR_CONFIG,
                     "option '%s%s' has value '%s': expected %s%s%s", dashes(source), def->name,
                     text, type_phrase(def->type), gap, range);
}

/* Keeps a copy of `text` as long as the set lives. */
static yoke_status keep_text(struct option_set *set, const char *text, const char **text_out)
{
    YOKE_TRY(MEM_GROW(set->texts, set->texts_capacity, set->n_texts + 1));
    char *copy = mem_strdup(text);
    if (!copy) {
        return YOKE_ERR_NO_MEMORY;
    }
    set->texts[set->n_texts++] = copy;
    *text_out = copy;
    return YOKE_OK;
}

union value {
    bool truth;
    int64_t whole;
    double real;
    int choice;
};

/* Everything but strings: parses and checks, writes nothing but *value_out. */
static yoke_status parse_value(const struct option_def *def, const char *text,
                               enum option_source source, union value *value_out)
{
    union value value = {0};
    bool good = true;
    switch (def->type) {
    case OPTION_BOOL:
        good = parse_bool(text, &value.truth);
        break;
    case OPTION_INT:
        good = str_to_int64(text, &value.whole) && in_range(def->range, (double)value.whole);
        break;
    case OPTION_FLOAT:
        good = str_to_double(text, &value.real) && in_range(def->range, value.real);
        break;
    case OPTION_CHOICE:
        value.choice = find_choice(def->range, text);
        good = value.choice >= 0;
        break;
    case OPTION_STRING:
        break;
    }
    if (!good) {
        return fail_value(def, text, source);
    }
    *value_out = value;
    return YOKE_OK;
}

static yoke_status store_value(struct option_set *set, const struct option_table *table,
                               const struct option_def *def, const char *text,
                               const union value *value)
{
    char *field = (char *)table->values + def->offset;
    switch (def->type) {
    case OPTION_BOOL:
        memcpy(field, &value->truth, sizeof value->truth);
        break;
    case OPTION_INT:
        memcpy(field, &value->whole, sizeof value->whole);
        break;
    case OPTION_FLOAT:
        memcpy(field, &value->real, sizeof value->real);
        break;
    case OPTION_CHOICE:
        memcpy(field, &value->choice, sizeof value->choice);
        break;
    case OPTION_STRING: {
        const char *copy = NULL;
        if (text) {
            YOKE_TRY(keep_text(set, text, &copy));
        }
        memcpy(field, &copy, sizeof copy);
        break;
    }
    }
    return YOKE_OK;
}

static yoke_status set_found(struct option_set *set, const struct found *found, const char *text,
                             enum option_source source)
{
    const struct option_def *def = found->def;
    union value value = {0};
    YOKE_TRY(parse_value(def, text, source, &value));
    if (source < set->sources[found->index]) {
        return YOKE_OK;
    }
    if (found->negates) {
        value.truth = !value.truth;
    }
    YOKE_TRY(store_value(set, found->table, def, text, &value));
    set->sources[found->index] = (unsigned char)source;
    return YOKE_OK;
}

yoke_status option_set_value(struct option_set *set, const char *name, const char *text,
                             enum option_source source)
{
    struct found found;
    YOKE_TRY(find_option(set, name, source, &found));
    if (!text && found.def->type != OPTION_BOOL) {
        return yoke_fail(YOKE_ERR_INVALID, "option '%s%s' needs a value: %s%s%s", dashes(source),
                         found.def->name, type_phrase(found.def->type), found.def->range ? " " : "",
                         found.def->range ? found.def->range : "");
    }
    return set_found(set, &found, text ? text : "true", source);
}

/* ---- the set ---- */

/* Default, then environment, of one record. */
static yoke_status set_first_values(struct option_set *set, const struct option_table *table,
                                    const struct option_def *def, size_t index)
{
    const struct found found = {table, def, index, false};
    union value value = {0};
    if (def->default_text) {
        YOKE_TRY(parse_value(def, def->default_text, OPTION_FROM_DEFAULT, &value));
    } else if (def->type != OPTION_STRING) {
        return yoke_fail(YOKE_ERR_INTERNAL, "option '%s' has no default", def->name);
    }
    YOKE_TRY(store_value(set, table, def, def->default_text, &value));
    const char *text = def->env ? env_get(def->env) : NULL;
    return text ? set_found(set, &found, text, OPTION_FROM_ENV) : YOKE_OK;
}

yoke_status option_set_init(struct option_set *set, const struct option_table *tables,
                            size_t n_tables)
{
    *set = (struct option_set){0};
    size_t n_options = 0;
    for (size_t t = 0; t < n_tables; t++) {
        n_options += tables[t].n_defs;
    }
    if (n_tables > OPTION_MAX_TABLES || n_options > OPTION_MAX) {
        return yoke_fail(YOKE_ERR_LIMIT, "%zu option tables with %zu options: at most %d with %d",
                         n_tables, n_options, OPTION_MAX_TABLES, OPTION_MAX);
    }
    memcpy(set->tables, tables, n_tables * sizeof *tables);
    set->n_tables = n_tables;
    yoke_status status = YOKE_OK;
    size_t index = 0;
    for (size_t t = 0; t < n_tables; t++) {
        for (size_t i = 0; i < tables[t].n_defs; i++, index++) {
            YOKE_TRY_GOTO(set_first_values(set, &tables[t], &tables[t].defs[i], index));
        }
    }
done:
    if (status < 0) {
        option_set_fini(set);
    }
    return status;
}

void option_set_fini(struct option_set *set)
{
    for (size_t i = 0; i < set->n_texts; i++) {
        mem_free(set->texts[i]);
    }
    mem_free(set->texts);
    *set = (struct option_set){0};
}

/* One flag at argv[at]; *used_out is the number of words that it took. */
static yoke_status parse_flag(struct option_set *set, int argc, char **argv, int at, int *used_out)
{
    const char *word = argv[at] + 2;
    const char *equals = strchr(word, '=');
    const char *next = at + 1 < argc ? argv[at + 1] : NULL;
    if (equals) {
        char name[NAME_BYTES];
        copy_name(name, word, (size_t)(equals - word));
        *used_out = 1;
        return option_set_value(set, name[0] ? name : word, equals + 1, OPTION_FROM_FLAG);
    }
    struct found found;
    bool truth;
    YOKE_TRY(find_option(set, word, OPTION_FROM_FLAG, &found));
    const bool takes_next =
        next && (found.def->type == OPTION_BOOL ? !found.negates && parse_bool(next, &truth)
                                                : strncmp(next, "--", 2) != 0);
    *used_out = takes_next ? 2 : 1;
    return option_set_value(set, word, takes_next ? next : NULL, OPTION_FROM_FLAG);
}

yoke_status option_set_parse(struct option_set *set, int argc, char **argv, int *rest_out)
{
    int at = 0;
    while (at < argc) {
        if (strncmp(argv[at], "--", 2) != 0 || argv[at][2] == '\0') {
            if (rest_out) {
                break;
            }
            return yoke_fail(YOKE_ERR_INVALID, "'%s' belongs to no option; options begin with '--'",
                             argv[at]);
        }
        int used = 0;
        YOKE_TRY(parse_flag(set, argc, argv, at, &used));
        at += used;
    }
    if (rest_out) {
        *rest_out = at;
    }
    return YOKE_OK;
}

enum option_source option_set_source(const struct option_set *set, const char *name)
{
    struct found found;
    if (find_option(set, name, OPTION_FROM_FILE, &found) < 0) {
        return OPTION_FROM_DEFAULT;
    }
    return set->sources[found.index];
}

char *option_choice_text(const struct option_def *def, int index)
{
    const char *choice = def->range;
    for (int i = 0; i < index; i++) {
        choice += strcspn(choice, ",") + 1;
    }
    return mem_strndup(choice, strcspn(choice, ","));
}

/* ---- help ---- */

/* Appends the words of `text` at column *column, breaking lines at HELP_WIDTH. */
static yoke_status wrap_words(struct str *page, const char *text, size_t *column)
{
    while (*text) {
        const size_t n = strcspn(text, " ");
        const bool at_start = *column == HELP_COLUMN;
        if (!at_start && *column + 1 + n > HELP_WIDTH) {
            YOKE_TRY(str_printf(page, "\n%*s", HELP_COLUMN, ""));
            *column = HELP_COLUMN;
        } else if (!at_start) {
            YOKE_TRY(str_append_text(page, " "));
            *column += 1;
        }
        YOKE_TRY(str_append(page, text, n));
        *column += n;
        text += n + strspn(text + n, " ");
    }
    return YOKE_OK;
}

/* "[default 3.0; 0..; also --x]": the default first, then what else one may need to know. */
static yoke_status describe_rules(struct str *out, const struct option_def *def)
{
    YOKE_TRY(str_printf(out, "[default %s", def->default_text ? def->default_text : "none"));
    if (def->range) {
        YOKE_TRY(
            str_printf(out, "; %s%s", def->type == OPTION_CHOICE ? "one of " : "", def->range));
    }
    struct spelling spellings[MAX_SPELLINGS];
    const size_t n = list_spellings(def, spellings);
    for (size_t s = 1; s < n; s++) {
        YOKE_TRY(str_printf(out, "%s--%s", s == 1 ? "; also " : ", ", spellings[s].text));
    }
    if (def->env) {
        YOKE_TRY(str_printf(out, "; env %s", def->env));
    }
    return str_append_text(out, "]");
}

static yoke_status describe_option(struct str *page, const struct option_def *def)
{
    static const char *const words[] = {
        [OPTION_BOOL] = "",        [OPTION_INT] = " N",         [OPTION_FLOAT] = " X",
        [OPTION_STRING] = " TEXT", [OPTION_CHOICE] = " CHOICE",
    };
    const size_t before = page->len;
    YOKE_TRY(str_printf(page, "  --%s%s", def->name, words[def->type]));
    size_t column = page->len - before;
    if (column + 1 >= HELP_COLUMN) {
        YOKE_TRY(str_append_text(page, "\n"));
        column = 0;
    }
    YOKE_TRY(str_printf(page, "%*s", (int)(HELP_COLUMN - column), ""));
    column = HELP_COLUMN;
    struct str rules = {0};
    yoke_status status = describe_rules(&rules, def);
    if (status >= 0) {
        status = wrap_words(page, def->doc, &column);
    }
    if (status >= 0) {
        status = wrap_words(page, str_text(&rules), &column);
    }
    str_fini(&rules);
    YOKE_TRY(status);
    return str_append_text(page, "\n");
}

/* The `position`-th record over all tables. */
static const struct option_def *get_def(const struct option_set *set, size_t position)
{
    for (size_t t = 0; t < set->n_tables; t++) {
        if (position < set->tables[t].n_defs) {
            return &set->tables[t].defs[position];
        }
        position -= set->tables[t].n_defs;
    }
    return NULL;
}

static bool is_first_of_group(const struct option_set *set, size_t position)
{
    for (size_t i = 0; i < position; i++) {
        if (strcmp(get_def(set, i)->group, get_def(set, position)->group) == 0) {
            return false;
        }
    }
    return true;
}

static yoke_status describe_all(struct str *page, const struct option_set *set)
{
    const struct option_def *def;
    for (size_t i = 0; (def = get_def(set, i)); i++) {
        if (!is_first_of_group(set, i)) {
            continue;
        }
        YOKE_TRY(str_printf(page, "%s%s:\n", page->len ? "\n" : "", def->group));
        const struct option_def *member;
        for (size_t j = i; (member = get_def(set, j)); j++) {
            if (strcmp(member->group, def->group) == 0) {
                YOKE_TRY(describe_option(page, member));
            }
        }
    }
    return YOKE_OK;
}

void option_set_help(const struct option_set *set)
{
    struct str page = {0};
    const yoke_status status = describe_all(&page, set);
    fputs(status < 0 ? yoke_last_error() : str_text(&page), stdout);
    fflush(stdout);
    str_fini(&page);
}
