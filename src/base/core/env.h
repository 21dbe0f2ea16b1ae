/* The environment: the only place that reads it. */
#ifndef BASE_CORE_ENV_H
#define BASE_CORE_ENV_H

#include <stdint.h>

#include "base/core/status.h"

/* The variable's value, or NULL when it is unset or empty. Borrowed. */
const char *env_get(const char *name);

/* A whole number in [least, most]; `fallback` when unset. YOKE_ERR_CONFIG names variable, value
 * and range otherwise. */
yoke_status env_get_int(const char *name, int64_t least, int64_t most, int64_t fallback,
                        int64_t *value_out) YOKE_MUST_USE;

#endif
