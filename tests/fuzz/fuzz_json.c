/* Any bytes are JSON or an error; what was read prints, and what was printed reads back as the
 * same. */
#include <stdint.h>
#include <stdlib.h>

#include "learn/format/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *json = NULL;
    if (json_read_text((const char *)data, size, "input", &json) < 0) {
        return 0;
    }
    for (int indent = 0; indent <= 2; indent += 2) {
        struct str text = {0};
        json_t *again = NULL;
        if (json_print(&text, json, indent, indent > 0) < 0 ||
            json_read_text(text.text, text.len, "printed", &again) < 0 ||
            !json_equal(json, again)) {
            abort();
        }
        json_decref(again);
        str_fini(&text);
    }
    json_decref(json);
    return 0;
}
