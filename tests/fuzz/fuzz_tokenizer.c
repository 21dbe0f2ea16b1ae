/* Any bytes as text, with each normaliser option and an added token of each kind. The first byte
 * chooses the options. Offsets must lie inside the text and never go back. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/file.h"
#include "base/core/memory.h"
#include "base/core/str.h"
#include "learn/text/tokenizer.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { N_TOKENIZERS = 8 };

static struct tokenizer *tokenizers[N_TOKENIZERS];

static const char vocab[] =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nab\n##a\n##b\n##abc\n.\n[\n]\n"
    "\xc3\xa9\ne\n##e\n\xe4\xb8\xad\n\xcc\x81\n";

#define TOKEN(id, content, flags) "\"" id "\": {\"content\": \"" content "\"" flags "}"

static yoke_status write_file(const char *folder, const char *name, const char *text)
{
    char *path = str_path(folder, name);
    const yoke_status status = file_write_all(path, text, strlen(text));
    mem_free(path);
    return status;
}

static yoke_status open_one(const char *folder, int options)
{
    char config[1024];
    snprintf(config, sizeof config,
             "{\"do_lower_case\": %s, \"strip_accents\": %s, \"tokenize_chinese_chars\": %s, "
             "\"added_tokens_decoder\": {" TOKEN("3", "[SEP]", ", \"special\": true") ", " TOKEN(
                 "19",
                 "xy", ", \"single_word\": true, \"normalized\": false") ", " TOKEN("20",
                                                                                    "\xc3\x89 a",
                                                                                    ", \"lstrip\": "
                                                                                    "true") ","
                                                                                            " " TOKEN("21",
                                                                                                      "xyz",
                                                                                                      ", \"rstrip\": true, \"normalized\": false") "}}",
             options & 1 ? "true" : "false", options & 2 ? "true" : "false",
             options & 4 ? "true" : "false");
    YOKE_TRY(write_file(folder, "vocab.txt", vocab));
    YOKE_TRY(write_file(folder, "tokenizer_config.json", config));
    return tokenizer_create(folder, &tokenizers[options]);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    char folder[] = "/tmp/yoke-fuzz-XXXXXX";
    if (!mkdtemp(folder)) {
        return 1;
    }
    for (int options = 0; options < N_TOKENIZERS; options++) {
        if (open_one(folder, options) < 0) {
            fprintf(stderr, "%s\n", yoke_last_error());
            abort();
        }
    }
    return file_remove_tree(folder) < 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct token_list list;
    if (n == 0) {
        return 0;
    }
    const struct tokenizer *tokenizer = tokenizers[data[0] % N_TOKENIZERS];
    if (tokenizer_encode(tokenizer, (const char *)data + 1, n - 1, &list) < 0) {
        abort();
    }
    for (size_t i = 0; i < list.n; i++) {
        if (!tokenizer_token(tokenizer, list.ids[i]) || list.begins[i] >= list.ends[i] ||
            list.ends[i] > n - 1 || (i > 0 && list.begins[i] < list.begins[i - 1])) {
            abort();
        }
    }
    return 0;
}
