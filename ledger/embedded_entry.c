/* embedded_entry.c - see embedded_entry.h. */
#include "ledger/embedded_entry.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char embedded_hba[] = "# Written anew at each start by endwell-database. There is one way in: the socket.\n"
                            "local all all peer map=endwell\n";

/* In quotes; a name that begins with a slash would be taken for a regular expression, and one with a quote ends them.
 */
static bool can_be_written(const char *name, size_t length) {
        if (length == 0 || *name == '/')
                return false;
        for (size_t i = 0; i < length; i++)
                if (name[i] == '"' || name[i] == '\\' || (unsigned char)name[i] < ' ')
                        return false;
        return true;
}

static int add(char **at, size_t *room, const char *user, size_t length, const char *role) {
        int n = snprintf(*at, *room, "endwell \"%.*s\" %s\n", (int)length, user, role);

        if (n < 0 || (size_t)n >= *room)
                return -ENOSPC;
        *at += n;
        *room -= (size_t)n;
        return 0;
}

static int add_super(char **at, size_t *room, const char *super) {
        int r = add(at, room, "root", strlen("root"), EMBEDDED_SUPER);

        if (r == 0 && strcmp(super, "root") != 0)
                r = add(at, room, super, strlen(super), EMBEDDED_SUPER);
        return r;
}

int embedded_write_ident(const char *users, const char *super, char *ret_text, size_t size) {
        char *at = ret_text;

        if (size == 0)
                return -ENOSPC;
        *at = '\0';
        if (!can_be_written(super, strlen(super)))
                return -EINVAL;
        int r = add_super(&at, &size, super);
        for (const char *user = users; r == 0 && *user;) {
                size_t length = strcspn(user, ":");
                r = can_be_written(user, length) ? add(&at, &size, user, length, EMBEDDED_ROLE) : -EINVAL;
                user += length + (user[length] == ':');
        }
        return r;
}
