/* main.c - endwell-worker: claims jobs of the ledger and runs a command for each; ends in order at SIGTERM. */
#include "base/complaints.h"
#include "base/log.h"
#include "base/take.h"
#include "worker/command_line.h"
#include "worker/foreman.h"
#include <errno.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <systemd/sd-event.h>

#define EXIT_USAGE    64
#define EXIT_SOFTWARE 70
#define EXIT_CONFIG   78
#define OWNER_MAX     37

/* Heard by the event loop. SIGHUP of a closed terminal and SIGPIPE of a closed pipe are no reason to lose jobs. */
static int prepare_signals(void) {
        static const int heard[] = { SIGTERM, SIGINT, SIGQUIT, SIGCHLD };
        sigset_t set;
        sigemptyset(&set);
        for (size_t i = 0; i < LENGTH_OF(heard); i++)
                sigaddset(&set, heard[i]);
        signal(SIGPIPE, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : 0;
}

static bool is_uuid(const char *text) {
        size_t n = strspn(text, "0123456789abcdefABCDEF-");
        return n == OWNER_MAX - 1 && text[n] == '\0';
}

/* A new one for each process: version 4, RFC 4122. */
static int make_owner(char ret_owner[static OWNER_MAX]) {
        const char *given = getenv("ENDWELL_OWNER");
        unsigned char b[16];

        if (given && is_uuid(given)) {
                strcpy(ret_owner, given);
                return 0;
        }
        if (getrandom(b, sizeof b, 0) != sizeof b)
                return -EIO;
        b[6] = (b[6] & 0x0f) | 0x40;
        b[8] = (b[8] & 0x3f) | 0x80;
        snprintf(ret_owner, OWNER_MAX, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
                 b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
        return 0;
}

static int find_database(const CommandLine *line, Database *ret) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        char problem[DATABASE_PROBLEM_MAX] = "";
        int r;

        if (!line->config) {
                r = database_from_environment(ret, problem);
                if (r < 0)
                        log_err("the ledger's database cannot be found: %s",
                                r == -EINVAL ? problem : strerrordesc_np(-r));
                return r;
        }
        r = complaints_new(&complaints);
        if (r >= 0)
                r = database_from_file(line->config, complaints, ret);
        if (complaints)
                complaints_print(complaints, stderr);
        return r;
}

/* What a command needs to fence its own writes. */
static void pass_database_on(const Database *database) {
        if (database->url)
                setenv("DATABASE_URL", database->url, 1);
        setenv("ENDWELL_DATABASE_SCHEMA", database->schema, 1);
}

static int run(const CommandLine *line, const Database *database, const char *owner) {
        Foreman *foreman = NULL;
        sd_event *event = NULL;

        int r = sd_event_new(&event);
        if (r >= 0)
                r = sd_event_set_watchdog(event, true);
        (void)unsetenv("WATCHDOG_USEC");
        (void)unsetenv("WATCHDOG_PID");
        if (r >= 0)
                r = foreman_new(&foreman, event, line, database, owner);
        if (r >= 0)
                r = sd_event_loop(event);
        foreman_free(foreman);
        sd_event_unref(event);
        if (r < 0)
                log_err("the worker failed: %s; its jobs are recovered when its leases end", strerrordesc_np(-r));
        return r < 0 ? EXIT_SOFTWARE : r;
}

static int work(const CommandLine *line) {
        _cleanup_(database_done) Database database = { 0 };
        char owner[OWNER_MAX];

        /* What we were started with beyond 0 to 2 is nobody's business below us. */
        (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
        int r = prepare_signals();
        if (r >= 0)
                r = make_owner(owner);
        if (r < 0) {
                log_err("the worker could not begin: %s", strerrordesc_np(-r));
                return EXIT_SOFTWARE;
        }
        if (find_database(line, &database) < 0)
                return EXIT_CONFIG;
        pass_database_on(&database);
        return run(line, &database, owner);
}

int main(int argc, char **argv) {
        char problem[COMMAND_LINE_PROBLEM_MAX];
        CommandLine line;

        int r = command_line_parse(argc, argv, &line, problem);
        if (r < 0) {
                fprintf(stderr, "endwell worker: %s\n", problem);
                return EXIT_USAGE;
        }
        if (r == COMMAND_LINE_HELP)
                fputs(command_line_help, stdout);
        if (r == COMMAND_LINE_VERSION)
                puts("endwell-worker " ENDWELL_VERSION);
        if (r > 0)
                return 0;
        log_open("endwell-worker", line.log_format, line.log_level);
        return work(&line);
}
