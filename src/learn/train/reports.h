/* Results as the reference reports them: dictionaries on standard output, aligned tables, and
 * files named SPLIT_results.json. Metrics are JSON objects in order of insertion. */
#ifndef LEARN_TRAIN_REPORTS_H
#define LEARN_TRAIN_REPORTS_H

#include "base/core/str.h"
#include "learn/format/json.h"

/* Python's round(value, digits). */
double report_round(double value, int digits);

/* Sets object[key] to a number. YOKE_ERR_NO_MEMORY is the only failure. */
yoke_status report_set_real(json_t *object, const char *key, double value) YOKE_MUST_USE;
yoke_status report_set_integer(json_t *object, const char *key, int64_t value) YOKE_MUST_USE;

/* PREFIX_runtime (4 decimals), PREFIX_samples_per_second and PREFIX_steps_per_second (3 decimals).
 */
yoke_status report_set_speed(json_t *object, const char *prefix, double seconds, double n_samples,
                             double n_steps) YOKE_MUST_USE;

/* Appends Python's repr of a flat object: {'loss': 1.25, 'epoch': 0.5}. */
yoke_status report_format_dict(const json_t *metrics, struct str *text) YOKE_MUST_USE;

/* That line on standard output. */
yoke_status report_print_dict(const json_t *metrics) YOKE_MUST_USE;

/* Appends "***** SPLIT metrics *****" and the metrics by name, aligned: runtimes as h:mm:ss.cc,
 * total_flos in GF (2^30 operations), other floats with 4 decimals. */
yoke_status report_format_table(const char *split, const json_t *metrics,
                                struct str *text) YOKE_MUST_USE;

/* Prints the table, writes FOLDER/SPLIT_results.json and merges the metrics into
 * FOLDER/all_results.json. */
yoke_status report_results(const char *folder, const char *split,
                           const json_t *metrics) YOKE_MUST_USE;

#endif
