/* Any bytes are a safetensors file or an error; every byte of every tensor of a file can be read.
 */
#include <stdint.h>
#include <string.h>

#include "learn/format/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_tensor(const struct safetensors *file, size_t index)
{
    const struct tensor_info *info = safetensors_get(file, index);
    const size_t item_bytes = tensor_dtype_bytes(info->dtype);
    const unsigned char *bytes = safetensors_data(file, index);
    for (size_t i = 0; i < info->n_elements; i++) {
        float value;
        tensor_convert(info->dtype, bytes + i * item_bytes, 1, &value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct safetensors *file = NULL;
    if (safetensors_open_memory(data, size, "input", &file) < 0) {
        return 0;
    }
    for (size_t i = 0; i < safetensors_count(file); i++) {
        read_tensor(file, i);
        if (safetensors_find(file, safetensors_get(file, i)->name) != i) {
            __builtin_trap();
        }
    }
    safetensors_close(file);
    return 0;
}
