/* embedded_main.c - endwell-database: makes a PostgreSQL cluster at its first start, then becomes its postmaster, which
 * listens on a socket in the same folder and nowhere else. */
#include "base/log.h"
#include "base/take.h"
#include "ledger/embedded_cluster.h"
#include "ledger/embedded_entry.h"
#include "ledger/embedded_watch.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_USAGE         64
#define EXIT_CONFIGURATION 78
#define USERS_TEXT_MAX     (256 << 10)

extern char **environ;

typedef struct Database {
        const char *path;
        EmbeddedFolder folder;
        EmbeddedPrograms programs;
} Database;

/* ---- As root ---- */

static int prepare(const char *owner, const char *path) {
        char problem[EMBEDDED_PROBLEM_MAX];
        unsigned uid, gid;
        int end = 0;

        if (sscanf(owner, "%u:%u%n", &uid, &gid, &end) != 2 || owner[end]) {
                log_err("--prepare wants UID:GID, not %s", owner);
                return EXIT_USAGE;
        }
        if (embedded_prepare_folder(path, uid, gid, problem) == 0)
                return 0;
        log_err("%s", problem);
        return EXIT_CONFIGURATION;
}

/* ---- As the database's user ---- */

static int find_programs(Database *database) {
        char known[256];
        unsigned version = database->folder.version;

        if (embedded_find_programs(version, &database->programs, known, sizeof known) == 0)
                return 0;
        if (version > 0)
                log_err("the cluster in %s was made by PostgreSQL %u, and here is %s%s: install %u, or restore a dump "
                        "into another folder; nothing was touched",
                        database->path, version, *known ? "only " : "none", known, version);
        else
                log_err("could not find a PostgreSQL %u or later, in PATH or in /usr/lib/postgresql/*/bin%s%s",
                        EMBEDDED_OLDEST, *known ? "; too old: " : "", known);
        return -ENOENT;
}

static int write_entry(const Database *database) {
        const char *users = getenv("ENDWELL_DATABASE_USERS"), *super = getenv("USER");
        _cleanup_(freep) char *ident = malloc(USERS_TEXT_MAX);

        int r = ident ? embedded_write_ident(users ? users : "", super ? super : EMBEDDED_SUPER, ident, USERS_TEXT_MAX)
                      : -ENOMEM;
        if (r == 0)
                r = embedded_write(&database->folder, "ident.conf", ident);
        if (r == 0)
                r = embedded_write(&database->folder, "hba.conf", embedded_hba);
        if (r < 0)
                log_err("could not write who may connect into %s: %s", database->path, strerrordesc_np(-r));
        return r;
}

static int open_folder(Database *database) {
        char problem[EMBEDDED_PROBLEM_MAX];

        int r = embedded_open_folder(database->path, &database->folder, problem);
        if (r < 0) {
                log_err("%s", problem);
                return r;
        }
        int lock = embedded_lock_folder(&database->folder);
        if (lock == -EWOULDBLOCK)
                log_err("another database runs in %s, or a process of an earlier one lives on", database->path);
        else if (lock < 0)
                log_err("could not lock the folder %s: %s", database->path, strerrordesc_np(-lock));
        return lock < 0 ? lock : 0;
}

static int get_ready(Database *database) {
        int r = open_folder(database);

        if (r == 0)
                r = find_programs(database);
        if (r == 0 && database->folder.version == 0)
                r = embedded_make_cluster(&database->folder, database->path, &database->programs);
        if (r == 0)
                r = write_entry(database);
        if (r < 0)
                return r;
        r = embedded_clear_stale(&database->folder);
        if (r < 0)
                log_err("could not remove what a killed database left in %s: %s", database->path, strerrordesc_np(-r));
        return r;
}

/* What a configuration of the cluster's own says of these does not count. */
static int become_postgres(const Database *database) {
        const char *path = database->path;
        char data[PATH_MAX], sockets[PATH_MAX], hba[PATH_MAX], ident[PATH_MAX];

        snprintf(data, sizeof data, "%s/cluster", path);
        snprintf(sockets, sizeof sockets, "unix_socket_directories=\"%s\"", path);
        snprintf(hba, sizeof hba, "hba_file=%s/hba.conf", path);
        snprintf(ident, sizeof ident, "ident_file=%s/ident.conf", path);
        char set[] = "-c";
        /* It looks for its own folder by this name, and in PATH when it is no path. */
        char *const argv[] = { (char *)database->programs.postgres,
                               (char *)"-D",
                               data,
                               set,
                               (char *)"listen_addresses=",
                               set,
                               (char *)"port=5432",
                               set,
                               sockets,
                               set,
                               (char *)"unix_socket_permissions=0777",
                               set,
                               (char *)"unix_socket_group=",
                               set,
                               hba,
                               set,
                               ident,
                               NULL };
        if (!embedded_says_ready(database->programs.postgres)) {
                int r = embedded_watch(&database->folder);
                if (r < 0)
                        log_warning("could not watch for the database to be ready: %s", strerrordesc_np(-r));
        }
        execve(database->programs.postgres, argv, environ);
        log_err("could not run %s: %s", database->programs.postgres, strerrordesc_np(errno));
        return -errno;
}

static int run(const char *path) {
        Database database = { .path = path, .folder.fd = -1 };

        if (geteuid() == 0) {
                log_err("PostgreSQL does not run as root; this program is started by endwell run, as another user");
                return EXIT_CONFIGURATION;
        }
        umask(077);
        int r = get_ready(&database);
        if (r == 0)
                r = become_postgres(&database);
        close_fd(database.folder.fd);
        return EXIT_CONFIGURATION;
}

int main(int argc, char **argv) {
        log_open("endwell-database", LOG_FORMAT_AUTO, LOG_LEVEL_INFO);
        if (argc == 4 && strcmp(argv[1], "--prepare") == 0)
                return prepare(argv[2], argv[3]);
        if (argc == 2 && argv[1][0] == '/')
                return run(argv[1]);
        log_err("usage: endwell-database FOLDER; or, as root, endwell-database --prepare UID:GID FOLDER; endwell run "
                "starts it");
        return EXIT_USAGE;
}
