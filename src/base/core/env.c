/* getenv with the emptiness and range rules of yoke's options. */
#include "base/core/env.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/str.h"

const char *env_get(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

yoke_status env_get_int(const char *name, int64_t least, int64_t most, int64_t fallback,
                        int64_t *value_out)
{
    const char *text = env_get(name);
    int64_t value = fallback;
    if (text && (!str_to_int64(text, &value) || value < least || value > most)) {
        return yoke_fail(YOKE_ERR_CONFIG,
                         "%s='%s' in the environment: expected a whole number from %" PRId64
                         " to %" PRId64,
                         name, text, least, most);
    }
    *value_out = value;
    return YOKE_OK;
}
