/* fuzz_words.c - any text: no crash; and words that are quoted and split again are the same words. */
#include "base/take.h"
#include "base/words.h"
#include "tests/fuzz/must.h"
#include <stdint.h>
#include <string.h>

/* Puts each word between single quotes, by the one rule that needs no other: ' becomes '\''. */
static char *quote_all(char **words, size_t n) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        must(out);
        for (size_t i = 0; i < n; i++) {
                fputs(" '", out);
                for (const char *c = words[i]; *c; c++)
                        if (*c == '\'')
                                fputs("'\\''", out);
                        else
                                fputc(*c, out);
                fputc('\'', out);
        }
        must(fclose(out) == 0);
        return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        _cleanup_(freep) char *text = strndup((const char *)data, size), *quoted = NULL;
        _cleanup_(freep) char **words = NULL, **again = NULL;
        const char *problem = NULL;
        size_t n, n_again;

        if (words_split(text, &words, &n, &problem) < 0) {
                must(problem && !words);
                return 0;
        }
        must(!words[n]);
        quoted = quote_all(words, n);
        must(words_split(quoted, &again, &n_again, &problem) == 0);
        must(n == n_again);
        for (size_t i = 0; i < n; i++)
                must(strcmp(words[i], again[i]) == 0);
        return 0;
}
