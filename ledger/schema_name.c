/* schema_name.c - puts the schema's name into SQL text. */
#include "ledger/schema_name.h"
#include "base/take.h"
#include "base/utf8.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

int schema_name_judge(const char *name) {
        size_t length = strlen(name);

        if (length == 0 || length > SCHEMA_NAME_MAX || strncmp(name, "pg_", 3) == 0)
                return -EINVAL;
        for (size_t i = 0; i < length;) {
                size_t n = utf8_character(name + i, length - i);
                if (n == 0 || (unsigned char)name[i] < ' ' || strchr("\x7f'$", name[i]))
                        return -EINVAL;
                i += n;
        }
        return 0;
}

char *schema_name_quote(const char *name) {
        char *quoted = malloc(2 * strlen(name) + 3), *at = quoted;

        if (!quoted)
                return NULL;
        *at++ = '"';
        for (; *name; name++) {
                if (*name == '"')
                        *at++ = '"';
                *at++ = *name;
        }
        *at++ = '"';
        *at = '\0';
        return quoted;
}

static size_t count(const char *sql) {
        size_t n = 0;

        for (; (sql = strstr(sql, SCHEMA_PLACEHOLDER)); sql += strlen(SCHEMA_PLACEHOLDER))
                n++;
        return n;
}

char *schema_name_place(const char *sql, const char *name) {
        _cleanup_(freep) char *quoted = schema_name_quote(name);
        char *text = quoted ? malloc(strlen(sql) + count(sql) * strlen(quoted) + 1) : NULL, *at = text;

        if (!text)
                return NULL;
        for (const char *found; (found = strstr(sql, SCHEMA_PLACEHOLDER)); sql = found + strlen(SCHEMA_PLACEHOLDER)) {
                at = mempcpy(at, sql, (size_t)(found - sql));
                at = stpcpy(at, quoted);
        }
        strcpy(at, sql);
        return text;
}
