/* embedded_cluster.c - see embedded_cluster.h. */
#include "ledger/embedded_cluster.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/take.h"
#include "base/usec.h"
#include "ledger/embedded_entry.h"
#include "ledger/embedded_process.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#define FRESH       "cluster.new"
#define EXTEND_TEXT "EXTEND_TIMEOUT_USEC=60000000"

static void tell(void *userdata) {
        (void)sd_notifyf(0, "%s\nSTATUS=%s", EXTEND_TEXT, (const char *)userdata);
}

static int run_and_tell(char *const *argv, const char *input, const char *what) {
        tell((void *)what);
        int r = embedded_run(&(EmbeddedRun){ .argv = argv, .input = input, .tick = tell, .userdata = (void *)what });
        if (r < 0)
                log_err("could not run %s: %s", argv[0], strerrordesc_np(-r));
        else if (r > 0)
                log_err("%s ended with %d while %s; what it said stands above", argv[0], r, what);
        return r > 0 ? -EIO : r;
}

/* The order of letters must not depend on the machine that the folder is moved to. */
static const char *locale_of_cluster(void) {
        return setlocale(LC_ALL, "C.UTF-8") ? "--locale=C.UTF-8" : "--locale=C";
}

static int initdb(const EmbeddedPrograms *programs, const char *fresh) {
        char *const argv[] = { (char *)programs->initdb,
                               (char *)"--pgdata",
                               (char *)fresh,
                               (char *)"--username=" EMBEDDED_SUPER,
                               (char *)"--auth=peer",
                               (char *)"--encoding=UTF8",
                               (char *)locale_of_cluster(),
                               (char *)"--data-checksums",
                               NULL };

        return run_and_tell(argv, NULL, "creating the database cluster");
}

/* Without a server: nobody can connect to a database that is not ready. The ledger's schema has the name of the role,
 * and without the third statement an application's own tables would go there, too. */
static int fill(const EmbeddedPrograms *programs, const char *fresh) {
        static const char statements[] = "CREATE ROLE " EMBEDDED_ROLE " LOGIN;\n"
                                         "CREATE DATABASE " EMBEDDED_ROLE " OWNER " EMBEDDED_ROLE ";\n"
                                         "ALTER DATABASE " EMBEDDED_ROLE " SET search_path TO public;\n";
        char *const argv[] = { (char *)programs->postgres,
                               (char *)"--single",
                               (char *)"-D",
                               (char *)fresh,
                               (char *)"-c",
                               (char *)"exit_on_error=on",
                               (char *)"-c",
                               (char *)"log_checkpoints=off",
                               (char *)"postgres",
                               NULL };

        return run_and_tell(argv, statements, "creating the database " EMBEDDED_ROLE);
}

static int put_in_place(const EmbeddedFolder *folder, const char *path) {
        if (renameat(folder->fd, FRESH, folder->fd, "cluster") < 0 || fsync(folder->fd) < 0) {
                int error = errno;
                log_err("could not put the new cluster in its place, %s/cluster: %s", path, strerrordesc_np(error));
                return -error;
        }
        return 0;
}

int embedded_make_cluster(const EmbeddedFolder *folder, const char *path, const EmbeddedPrograms *programs) {
        _cleanup_(freep) char *fresh = NULL;
        usec_t began_usec = clock_now_usec();

        int r = embedded_remove(folder, path, FRESH);
        if (r < 0) {
                log_err("could not remove what an earlier start left, %s/" FRESH ": %s", path, strerrordesc_np(-r));
                return r;
        }
        if (asprintf(&fresh, "%s/" FRESH, path) < 0) {
                fresh = NULL; /* else undefined */
                return -ENOMEM;
        }
        log_notice("began to create a PostgreSQL %u cluster in %s/cluster", programs->version, path);
        r = initdb(programs, fresh);
        if (r == 0)
                r = fill(programs, fresh);
        if (r == 0)
                r = put_in_place(folder, path);
        (void)sd_notify(0, "STATUS="); /* PostgreSQL itself says none */
        if (r == 0)
                log_notice("created it in %.1f s", (double)usec_sub(clock_now_usec(), began_usec) / USEC_PER_SEC);
        return r;
}

/* "postgres", "postmaster", or something in its place. */
static int is_postgres(long pid) {
        char path[64], name[32] = "";

        snprintf(path, sizeof path, "/proc/%ld/comm", pid);
        _cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd >= 0 && read(fd, name, sizeof name - 1) > 0 && strncmp(name, "postgres\n", 9) == 0;
}

int embedded_clear_stale(const EmbeddedFolder *folder) {
        static const char *const files[] = { "cluster/postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432" };
        char text[32] = "";
        _cleanup_(closep) int fd = openat(folder->fd, files[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && is_postgres(strtol(text, NULL, 10)))
                return 0;
        for (size_t i = 0; i < LENGTH_OF(files); i++)
                if (unlinkat(folder->fd, files[i], 0) < 0 && errno != ENOENT)
                        return -errno;
        return 0;
}
