/* Any bytes as vocab.txt: refused with a message, or every token is found again, by itself and
 * along the trie. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "learn/text/unicode.h"
#include "learn/text/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint32_t walk(const struct vocab *vocab, const char *token)
{
    uint32_t node = VOCAB_WORD_ROOT;
    const size_t n = strlen(token);
    for (size_t i = 0; i < n && node != VOCAB_NO_ID;) {
        node = vocab_step(vocab, node, unicode_decode(token, n, &i, NULL));
    }
    return node == VOCAB_NO_ID ? VOCAB_NO_ID : vocab->node_ids[node];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct vocab vocab = {0};
    const yoke_status status = vocab_parse(&vocab, (const char *)data, n, "vocab.txt");
    if (status < 0 && strstr(yoke_last_error(), "vocab.txt: line ") == NULL) {
        abort();
    }
    if (status == YOKE_OK && vocab_build_trie(&vocab, "##") < 0) {
        abort();
    }
    for (size_t id = 0; status == YOKE_OK && id < vocab.n_tokens; id++) {
        const char *token = vocab.tokens[id];
        if (token && (vocab_find(&vocab, token, strlen(token)) != id ||
                      (*token && walk(&vocab, token) != id))) {
            abort();
        }
    }
    vocab_fini(&vocab);
    return 0;
}
