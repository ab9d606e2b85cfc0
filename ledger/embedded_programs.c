/* embedded_programs.c - see embedded_programs.h. */
#include "ledger/embedded_programs.h"
#include "base/take.h"
#include "ledger/embedded_process.h"
#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Debian's, Red Hat's, and where `make install` puts it. */
static const char *const usual[] = { "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin" };

typedef struct Search {
        unsigned wanted; /* 0: the newest */
        EmbeddedPrograms best;
        char *known;
        unsigned size;
} Search;

unsigned embedded_version_of(const char *text) {
        static const char before[] = "(PostgreSQL) ";
        const char *at = strstr(text, before);
        unsigned version = 0;

        for (at = at ? at + sizeof before - 1 : ""; *at >= '0' && *at <= '9' && version < 1000; at++)
                version = version * 10 + (unsigned)(*at - '0');
        return version;
}

static unsigned ask_version(const char *postgres) {
        char said[256] = "", option[] = "--version";
        char *const argv[] = { (char *)postgres, option, NULL };
        int r = embedded_run(&(EmbeddedRun){ .argv = argv, .output = said, .output_size = sizeof said });

        return r == 0 ? embedded_version_of(said) : 0;
}

static void remember(Search *search, unsigned version) {
        size_t used = strlen(search->known);
        char text[16];

        snprintf(text, sizeof text, "%s%u", used ? ", " : "", version);
        if (used + strlen(text) < search->size)
                strcpy(search->known + used, text);
}

static bool is_better(const Search *search, unsigned version) {
        if (search->wanted)
                return version == search->wanted && search->best.version == 0;
        return version >= EMBEDDED_OLDEST && version > search->best.version;
}

/* A folder has both programs or counts for nothing. */
static void look_in(Search *search, const char *folder, size_t length) {
        EmbeddedPrograms found;

        if (length == 0 || *folder != '/' ||
            (size_t)snprintf(found.postgres, sizeof found.postgres, "%.*s/postgres", (int)length, folder) >=
                    sizeof found.postgres ||
            (size_t)snprintf(found.initdb, sizeof found.initdb, "%.*s/initdb", (int)length, folder) >=
                    sizeof found.initdb)
                return;
        if (access(found.postgres, X_OK) < 0 || access(found.initdb, X_OK) < 0)
                return;
        found.version = ask_version(found.postgres);
        if (found.version > 0)
                remember(search, found.version);
        if (is_better(search, found.version))
                search->best = found;
}

static void look_in_path(Search *search) {
        const char *path = getenv("PATH");

        for (const char *at = path ? path : ""; *at;) {
                size_t length = strcspn(at, ":");
                look_in(search, at, length);
                at += length + (at[length] == ':');
        }
}

int embedded_find_programs(unsigned version, EmbeddedPrograms *ret, char *ret_known, unsigned size) {
        Search search = { .wanted = version, .known = ret_known, .size = size };

        *ret_known = '\0';
        look_in_path(&search);
        for (size_t i = 0; i < LENGTH_OF(usual); i++) {
                glob_t found;
                if (glob(usual[i], 0, NULL, &found) != 0)
                        continue;
                for (size_t j = 0; j < found.gl_pathc; j++)
                        look_in(&search, found.gl_pathv[j], strlen(found.gl_pathv[j]));
                globfree(&found);
        }
        if (search.best.version == 0)
                return -ENOENT;
        *ret = search.best;
        return 0;
}
