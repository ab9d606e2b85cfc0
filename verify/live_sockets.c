/* live_sockets.c - see live_sockets.h. */
#include "verify/live_sockets.h"
#include "base/take.h"
#include "verify/texts.h"
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define FLAG_LISTENS  0x10000ul /* __SO_ACCEPTCON */
#define TYPE_DATAGRAM 2

static void pathsp(char ***paths) {
        *paths = texts_free(*paths);
}

/* "0000000000000000: 00000002 00000000 00010000 0001 01 1234 /run/x": the columns before the path are seven. */
static const char *path_of(char *line, unsigned long *ret_flags, unsigned long *ret_type) {
        char *at = line;

        for (unsigned column = 0; column < 7; column++) {
                at += strspn(at, " ");
                if (column == 3)
                        *ret_flags = strtoul(at, NULL, 16);
                if (column == 4)
                        *ret_type = strtoul(at, NULL, 16);
                at += strcspn(at, " ");
        }
        return *at == ' ' ? at + 1 : NULL;
}

static bool stands_in(char *const *paths, size_t n, const char *path) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(paths[i], path) == 0)
                        return true;
        return false;
}

static int add(char ***paths, size_t *n, const char *path) {
        return stands_in(*paths, *n, path) ? 0 : texts_add(paths, n, strdup(path));
}

int live_sockets_parse(const char *text, char ***ret) {
        _cleanup_(freep) char *copy = strdup(text);
        _cleanup_(pathsp) char **paths = calloc(1, sizeof *paths);
        char *line, *rest = copy;
        size_t n = 0;

        if (!copy || !paths)
                return -ENOMEM;
        line = strsep(&rest, "\n");
        if (strncmp(line, "Num ", 4) != 0)
                return -EBADMSG;
        while ((line = strsep(&rest, "\n")) && *line) {
                unsigned long flags = 0, type = 0;
                const char *path = path_of(line, &flags, &type);

                if (!path || path[0] != '/' || !(flags & FLAG_LISTENS || type == TYPE_DATAGRAM))
                        continue;
                int r = add(&paths, &n, path);
                if (r < 0)
                        return r;
        }
        *ret = TAKE(paths);
        return 0;
}
