/* words.c - splits a command into words as a POSIX shell does. */
#include "base/words.h"
#include "base/take.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c) {
        return c == ' ' || c == '\t' || c == '\n';
}

/* Copies what stands between single quotes; *text is behind the first one and moves behind the second. */
static int copy_single_quoted(const char **text, char **out, const char **ret_problem) {
        const char *end = strchr(*text, '\'');
        if (!end) {
                *ret_problem = "a quote ' is not closed";
                return -EINVAL;
        }
        size_t length = (size_t)(end - *text);
        memcpy(*out, *text, length);
        *out += length;
        *text = end + 1;
        return 0;
}

static int copy_double_quoted(const char **text, char **out, const char **ret_problem) {
        const char *at = *text;
        char *to = *out;

        for (; *at && *at != '"'; at++) {
                if (*at == '\\' && at[1] == '\n') {
                        at++;
                        continue;
                }
                if (*at == '\\' && at[1] && strchr("$`\"\\", at[1]))
                        at++;
                *to++ = *at;
        }
        if (!*at) {
                *ret_problem = "a quote \" is not closed";
                return -EINVAL;
        }
        *text = at + 1;
        *out = to;
        return 0;
}

static int copy_escaped(const char **text, char **out, const char **ret_problem) {
        const char *at = *text;
        if (!*at) {
                *ret_problem = "a backslash at the end";
                return -EINVAL;
        }
        if (*at != '\n') /* a backslash before a newline joins two lines and is gone */
                *(*out)++ = *at;
        *text = at + 1;
        return 0;
}

/* Copies one word that starts at *text, without its quotes, and ends it with NUL. */
static int copy_word(const char **text, char **out, const char **ret_problem) {
        int r = 0;

        while (r == 0 && **text && !is_blank(**text)) {
                char c = *(*text)++;
                if (c == '\'')
                        r = copy_single_quoted(text, out, ret_problem);
                else if (c == '"')
                        r = copy_double_quoted(text, out, ret_problem);
                else if (c == '\\')
                        r = copy_escaped(text, out, ret_problem);
                else
                        *(*out)++ = c;
        }
        *(*out)++ = '\0';
        return r;
}

/* Blanks, and pairs of backslash and newline, which alone make no word. */
static const char *skip_between(const char *text) {
        for (;;) {
                if (is_blank(*text))
                        text++;
                else if (text[0] == '\\' && text[1] == '\n')
                        text += 2;
                else
                        return text;
        }
}

int words_split(const char *text, char ***ret_words, size_t *ret_n, const char **ret_problem) {
        /* A word needs a letter and the blank before the next one, so half the length is room for all pointers; its NUL
         * takes the place of that blank. */
        size_t length = strlen(text), n = 0;
        size_t n_pointers = length / 2 + 2;
        _cleanup_(freep) char **words = malloc(n_pointers * sizeof *words + length + 1);
        if (!words)
                return -ENOMEM;

        char *out = (char *)(words + n_pointers);
        for (text = skip_between(text); *text; text = skip_between(text)) {
                words[n++] = out;
                int r = copy_word(&text, &out, ret_problem);
                if (r < 0)
                        return r;
        }
        words[n] = NULL;
        *ret_words = TAKE(words);
        *ret_n = n;
        return 0;
}
