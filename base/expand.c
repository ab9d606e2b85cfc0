/* expand.c - puts ${NAME} and ${NAME:-default} into a value. */
#include "base/expand.h"
#include "base/take.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN_MAX 60 /* of a name in a problem, which is a line to read */

static void fclosep(FILE **file) {
        if (*file)
                fclose(*file);
}

static int complain(int error, char **ret_problem, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int complain(int error, char **ret_problem, const char *format, ...) {
        char *problem;
        va_list arguments;

        va_start(arguments, format);
        int r = vasprintf(&problem, format, arguments);
        va_end(arguments);
        if (r < 0)
                return -ENOMEM;
        *ret_problem = problem;
        return error;
}

static int shown(size_t length) {
        return length < NAME_SHOWN_MAX ? (int)length : NAME_SHOWN_MAX;
}

/* As environ(7) and the shell have them. */
static size_t name_length(const char *text) {
        if (*text >= '0' && *text <= '9')
                return 0;
        return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
}

/* The value of a variable goes in as it is: what looks like a reference inside it is none. */
static int put_variable(FILE *out, const char *name, size_t length, const char *fallback, size_t fallback_length,
                        ExpandLookup lookup, void *userdata, char **ret_problem) {
        _cleanup_(freep) char *copy = strndup(name, length);
        if (!copy)
                return -ENOMEM;

        const char *value = lookup(userdata, copy);
        if (fallback && (!value || !*value)) /* ":-" also stands in for an empty value, as in the shell */
                fwrite(fallback, 1, fallback_length, out);
        else if (value)
                fputs(value, out);
        else
                return complain(-ENOKEY, ret_problem, "the variable %.*s is not set and has no default", shown(length),
                                copy);
        return 0;
}

/* `*text` is behind "${" and moves behind "}". */
static int put_reference(FILE *out, const char **text, ExpandLookup lookup, void *userdata, char **ret_problem) {
        const char *name = *text, *fallback = NULL;
        size_t length = name_length(name), fallback_length = 0;
        const char *end = strchr(name, '}');

        if (!end)
                return complain(-EINVAL, ret_problem, "a \"${\" is not closed by \"}\"");
        if (length == 0)
                return complain(-EINVAL, ret_problem,
                                "\"${\" is not followed by the name of a variable (a dollar is \"$$\")");
        if (strncmp(name + length, ":-", 2) == 0) {
                fallback = name + length + 2;
                fallback_length = (size_t)(end - fallback);
        } else if (name + length != end)
                return complain(
                        -EINVAL, ret_problem,
                        "\"${%.*s\" goes on with neither \"}\" nor \":-\"; only ${NAME} and ${NAME:-default} are known",
                        shown(length), name);
        *text = end + 1;
        return put_variable(out, name, length, fallback, fallback_length, lookup, userdata, ret_problem);
}

static int put_all(FILE *out, const char *text, ExpandLookup lookup, void *userdata, char **ret_problem) {
        for (;;) {
                size_t plain = strcspn(text, "$");
                fwrite(text, 1, plain, out);
                text += plain;
                if (!*text)
                        return 0;
                if (text[1] == '$') {
                        fputc('$', out);
                        text += 2;
                } else if (text[1] == '{') {
                        text += 2;
                        int r = put_reference(out, &text, lookup, userdata, ret_problem);
                        if (r < 0)
                                return r;
                } else
                        return complain(-EINVAL, ret_problem,
                                        "a \"$\" stands alone: write \"$$\" for a dollar, \"${NAME}\" for a variable");
        }
}

int expand_text(const char *text, ExpandLookup lookup, void *userdata, char **ret_text, char **ret_problem) {
        _cleanup_(freep) char *result = NULL;
        size_t size;
        if (!strchr(text, '$')) { /* nearly all values */
                *ret_text = strdup(text);
                return *ret_text ? 0 : -ENOMEM;
        }
        {
                _cleanup_(fclosep) FILE *out = open_memstream(&result, &size);
                if (!out)
                        return -ENOMEM;
                int r = put_all(out, text, lookup, userdata, ret_problem);
                if (r < 0)
                        return r;
                if (fflush(out) != 0 || ferror(out))
                        return -ENOMEM;
        }
        if (!result) /* closing a memory stream shrinks its buffer, and reports no failure of that */
                return -ENOMEM;
        *ret_text = TAKE(result);
        return 0;
}
