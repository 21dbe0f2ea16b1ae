/* Formats that other programs parse: kept to the character. */
#include "learn/train/reports.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "base/term/terminal.h"

enum { MAX_METRICS = 64, VALUE_BYTES = 48 }; /* several times what a job reports */

double report_round(double value, int digits)
{
    /* printf rounds the exact binary value correctly, and so does Python's round. */
    char text[400];
    snprintf(text, sizeof text, "%.*f", digits, value);
    return strtod(text, NULL);
}

static yoke_status set_new(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0) {
        return yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for the metric %s", key);
    }
    return YOKE_OK;
}

yoke_status report_set_real(json_t *object, const char *key, double value)
{
    /* JSON has no NaN, so a result that is none is a missing value. */
    return set_new(object, key, value - value == 0.0 ? json_real(value) : json_null());
}

yoke_status report_set_integer(json_t *object, const char *key, int64_t value)
{
    return set_new(object, key, json_integer(value));
}

yoke_status report_set_speed(json_t *object, const char *prefix, double seconds, double n_samples,
                             double n_steps)
{
    const double span = seconds > 1e-9 ? seconds : 1e-9; /* a rate stays finite */
    char key[64];
    snprintf(key, sizeof key, "%s_runtime", prefix);
    YOKE_TRY(report_set_real(object, key, report_round(seconds, 4)));
    snprintf(key, sizeof key, "%s_samples_per_second", prefix);
    YOKE_TRY(report_set_real(object, key, report_round(n_samples / span, 3)));
    snprintf(key, sizeof key, "%s_steps_per_second", prefix);
    return report_set_real(object, key, report_round(n_steps / span, 3));
}

static yoke_status append_value(const json_t *value, struct str *text)
{
    char number[32];
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        return str_printf(text, "%lld", (long long)json_integer_value(value));
    case JSON_REAL:
        return str_append_text(text, json_format_double(json_real_value(value), number));
    case JSON_STRING:
        return str_printf(text, "'%s'", json_string_value(value));
    case JSON_TRUE:
        return str_append_text(text, "True");
    case JSON_FALSE:
        return str_append_text(text, "False");
    default:
        return str_append_text(text, "None");
    }
}

yoke_status report_format_dict(const json_t *metrics, struct str *text)
{
    const char *key;
    json_t *value;
    const char *separator = "{";
    json_object_foreach((json_t *)metrics, key, value)
    {
        YOKE_TRY(str_printf(text, "%s'%s': ", separator, key));
        YOKE_TRY(append_value(value, text));
        separator = ", ";
    }
    return str_append_text(text, "}");
}

yoke_status report_print_dict(const json_t *metrics)
{
    struct str line = {0};
    const yoke_status status = report_format_dict(metrics, &line);
    if (status == YOKE_OK) {
        term_print("%s\n", str_text(&line));
    }
    str_fini(&line);
    return status;
}

/* datetime.timedelta of the whole seconds, and hundredths: "0:01:05.50", "1 day, 2:00:00.00". */
static void format_runtime(double seconds, char *text, size_t n)
{
    const int64_t s = (int64_t)seconds;
    const int hundredths = (int)((seconds - (double)s) * 100);
    const int64_t days = s / 86400;
    char prefix[32] = "";
    if (days > 0) {
        snprintf(prefix, sizeof prefix, "%lld day%s, ", (long long)days, days == 1 ? "" : "s");
    }
    snprintf(text, n, "%s%d:%02d:%02d.%02d", prefix, (int)(s / 3600 % 24), (int)(s / 60 % 60),
             (int)(s % 60), hundredths);
}

static yoke_status format_metric(const char *key, const json_t *value, char *text, size_t n)
{
    if (strstr(key, "_runtime") && json_is_number(value)) {
        format_runtime(json_number_value(value), text, n);
        return YOKE_OK;
    }
    if (strcmp(key, "total_flos") == 0 && json_is_number(value)) {
        snprintf(text, n, "%.0fGF", floor(json_number_value(value) * 0x1p-30));
        return YOKE_OK;
    }
    struct str line = {0};
    json_t *rounded =
        json_is_real(value) ? json_real(report_round(json_real_value(value), 4)) : NULL;
    const yoke_status status = append_value(rounded ? rounded : value, &line);
    snprintf(text, n, "%s", str_text(&line));
    json_decref(rounded);
    str_fini(&line);
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

yoke_status report_format_table(const char *split, const json_t *metrics, struct str *text)
{
    const char *keys[MAX_METRICS];
    char values[MAX_METRICS][VALUE_BYTES];
    size_t n = 0;
    int key_width = 0;
    int value_width = 0;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)metrics, key, value)
    {
        if (n < MAX_METRICS) {
            keys[n++] = key;
        }
    }
    qsort(keys, n, sizeof keys[0], compare_keys);
    for (size_t i = 0; i < n; i++) {
        YOKE_TRY(format_metric(keys[i], json_object_get(metrics, keys[i]), values[i], VALUE_BYTES));
        key_width = (int)strlen(keys[i]) > key_width ? (int)strlen(keys[i]) : key_width;
        value_width = (int)strlen(values[i]) > value_width ? (int)strlen(values[i]) : value_width;
    }
    YOKE_TRY(str_printf(text, "***** %s metrics *****\n", split));
    for (size_t i = 0; i < n; i++) {
        YOKE_TRY(str_printf(text, "  %-*s = %*s\n", key_width, keys[i], value_width, values[i]));
    }
    return YOKE_OK;
}

/* all_results.json collects the results of all stages and runs of a folder. */
static yoke_status merge_all_results(const char *folder, const json_t *metrics)
{
    char *path = str_path(folder, "all_results.json");
    json_t *all = NULL;
    yoke_status status = path ? YOKE_OK : YOKE_ERR_NO_MEMORY;
    if (status == YOKE_OK && file_exists(path)) {
        YOKE_TRY_GOTO(json_read_file(path, &all));
        if (!json_is_object(all)) {
            YOKE_TRY_GOTO(
                yoke_fail(YOKE_ERR_FORMAT, "%s is not a JSON object; move it away", path));
        }
    }
    all = all ? all : json_object();
    if (status == YOKE_OK && json_object_update(all, (json_t *)metrics) != 0) {
        status = yoke_fail(YOKE_ERR_NO_MEMORY, "no memory for the results");
    }
    YOKE_TRY_GOTO(status);
    status = json_write_file(path, all, 4, true);
done:
    json_decref(all);
    mem_free(path);
    return status;
}

static yoke_status write_results(const char *folder, const char *split, const json_t *metrics)
{
    char name[64];
    snprintf(name, sizeof name, "%s_results.json", split);
    char *path = str_path(folder, name);
    if (!path) {
        return YOKE_ERR_NO_MEMORY;
    }
    const yoke_status status = json_write_file(path, metrics, 4, true);
    mem_free(path);
    return status;
}

yoke_status report_results(const char *folder, const char *split, const json_t *metrics)
{
    struct str table = {0};
    const yoke_status status = report_format_table(split, metrics, &table);
    if (status == YOKE_OK) {
        term_print("%s", str_text(&table));
    }
    str_fini(&table);
    YOKE_TRY(status);
    YOKE_TRY(write_results(folder, split, metrics));
    return merge_all_results(folder, metrics);
}
