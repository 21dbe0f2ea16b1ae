/* Any bytes are an archive of torch.save or an error. An input that does not begin as a zip archive
 * is read as its pickle alone, so that the machine inside is reached without checksums and
 * compression. */
#include <stdint.h>
#include <string.h>

#include "base/core/memory.h"
#include "learn/format/torch_pickle.h"
#include "learn/format/torch_zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_ELEMENTS = 1 << 16 };

static void read_archive(const uint8_t *data, size_t size)
{
    struct torch_zip *file = NULL;
    if (torch_zip_open_memory(data, size, "input", &file) < 0) {
        return;
    }
    for (size_t i = 0; i < torch_zip_count(file); i++) {
        const size_t n = torch_zip_get(file, i)->n_elements;
        float *values = n <= MAX_ELEMENTS ? mem_calloc(n, sizeof *values) : NULL;
        if (values) {
            (void)!torch_zip_copy(file, i, values);
        }
        mem_free(values);
    }
    torch_zip_close(file);
}

static void check_view(const struct pickled_tensor *tensor)
{
    if (tensor->info.n_elements > 0 && tensor->offset + tensor->span > tensor->storage_elements) {
        __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 2 && memcmp(data, "PK", 2) == 0) {
        read_archive(data, size);
        return 0;
    }
    struct pickled_tensors tensors = {0};
    if (torch_pickle_read(data, size, "input", &tensors) >= 0) {
        for (size_t i = 0; i < tensors.n_tensors; i++) {
            check_view(&tensors.table[i]);
        }
        pickled_tensors_fini(&tensors);
    }
    return 0;
}
