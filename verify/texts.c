/* texts.c - see texts.h. */
#include "verify/texts.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int texts_add(char ***texts, size_t *n, char *text) {
        char **longer = text ? reallocarray(*texts, *n + 2, sizeof *longer) : NULL;

        if (!longer) {
                free(text);
                return -ENOMEM;
        }
        longer[(*n)++] = text;
        longer[*n] = NULL;
        *texts = longer;
        return 0;
}

int texts_copy(char *const *texts, char ***ret) {
        char **copies = calloc(1, sizeof *copies);
        size_t n = 0;

        if (!copies)
                return -ENOMEM;
        for (; texts && *texts; texts++)
                if (texts_add(&copies, &n, strdup(*texts)) < 0) {
                        texts_free(copies);
                        return -ENOMEM;
                }
        *ret = copies;
        return 0;
}

char **texts_free(char **texts) {
        for (size_t i = 0; texts && texts[i]; i++)
                free(texts[i]);
        free(texts);
        return NULL;
}
