/* main.c - endwell-reaper: returns or buries the jobs of workers that are gone. */
#include "base/complaints.h"
#include "base/log.h"
#include "base/take.h"
#include "ledger/database.h"
#include "reaper/orders.h"
#include "reaper/reaper.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#define EXIT_USAGE     64
#define EXIT_SOFTWARE  70
#define EXIT_CONFIG    78
#define PRIORITY_ASKED (-10)

static const char help[] =
        "usage: endwell reaper [OPTIONS]\n"
        "Returns or buries the jobs of workers that are gone: those whose lease is over, and, below a running "
        "endwell,\n"
        "those whose process it saw die, at once. endwell runs one by itself where a database is configured.\n"
        "      --once               sweep and prune once, to the end; 69 when the database does not do it\n"
        "      --interval SPAN      between sweeps (5s)\n"
        "      --batch N            jobs a sweep, at most (500)\n"
        "      --retention SPAN     how long finished jobs are kept (7d; infinity: for ever)\n"
        "      --prune-batch N      rows a pruning, at most (5000)\n"
        "  -c, --config FILE        read [Database] of this configuration; else the environment counts:\n"
        "                           $DATABASE_URL, or libpq's own PG* variables\n"
        "      --log-format FORMAT  auto, text, json or journal\n"
        "      --log-level LEVEL    debug, info, notice, warning or err\n"
        "  -h, --help               this text\n";

static void print_problem(const char *problem) {
        fprintf(stderr, "endwell-reaper: %s\n", problem);
}

static int database_of_file(const char *path, Database *ret) {
        _cleanup_(complaints_freep) Complaints *complaints = NULL;

        int r = complaints_new(&complaints);
        if (r >= 0)
                r = database_from_file(path, complaints, ret);
        if (r == -EBADMSG)
                complaints_print(complaints, stderr);
        else if (r < 0)
                print_problem(strerrordesc_np(-r));
        return r;
}

static int find_database(const Orders *orders, Database *ret) {
        char problem[DATABASE_PROBLEM_MAX] = "there is no memory left";

        if (orders->config)
                return database_of_file(orders->config, ret);
        int r = database_from_environment(ret, problem);
        if (r < 0)
                print_problem(problem);
        return r;
}

/* ---- Being asked to end ---- */

static int asked_fd = -1;
static volatile sig_atomic_t out_of_time_is_set;

/* libpq resolves names while everybody waits: then nobody reads what on_asked() wrote, and this comes to pass. */
static void on_out_of_time(int number) {
        static const char sentence[] =
                "endwell-reaper: ended while libpq was busy; what was not done is left to the leases\n";

        (void)number;
        (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
        _exit(0);
}

static void on_asked(int number) {
        static const uint64_t one = 1;
        int saved = errno;

        (void)number;
        (void)!write(asked_fd, &one, sizeof one);
        if (!out_of_time_is_set)
                alarm(REAPER_SETTLE_SEC + 1);
        out_of_time_is_set = 1;
        errno = saved;
}

static int on_asked_event(sd_event_source *source, int fd, uint32_t revents, void *userdata) {
        (void)fd, (void)revents;
        (void)sd_event_source_set_enabled(source, SD_EVENT_OFF); /* once is enough */
        reaper_settle(userdata);
        return 0;
}

static void handle(int number, void (*handler)(int)) {
        struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
        (void)sigaction(number, &action, NULL);
}

static int listen_for_signals(sd_event *event, Reaper *reaper) {
        sd_event_source *source;

        int r = sd_event_add_io(event, &source, asked_fd, EPOLLIN, on_asked_event, reaper);
        if (r >= 0)
                r = sd_event_source_set_priority(source, PRIORITY_ASKED);
        if (r >= 0)
                r = sd_event_source_set_floating(source, true);
        sd_event_source_unref(source);
        return r;
}

/* Before anything can take long, and SIGHUP of a terminal ends us like any other request. */
static int prepare_signals(void) {
        asked_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (asked_fd < 0)
                return -errno;
        handle(SIGALRM, on_out_of_time);
        handle(SIGTERM, on_asked);
        handle(SIGINT, on_asked);
        handle(SIGHUP, on_asked);
        handle(SIGPIPE, SIG_IGN);
        return 0;
}

/* ---- Life ---- */

/* The reaper of a container that is gone must not live on: when endwell dies, and be it killed, we are asked to end. */
static void follow(const Orders *orders) {
        if (orders->socket && prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
                log_warning("would not hear of endwell's death: %m");
}

static int run(const Orders *orders, const Database *database) {
        sd_event *event = NULL;
        Reaper *reaper = NULL;

        int r = prepare_signals();
        if (r >= 0)
                r = sd_event_new(&event);
        if (r >= 0)
                r = sd_event_set_watchdog(event, true);
        if (r >= 0)
                r = reaper_new(&reaper, event, orders, database);
        if (r >= 0)
                r = listen_for_signals(event, reaper);
        if (r >= 0) {
                /* Ready without its database: nothing may wait for the reaper, and it waits by itself. */
                (void)sd_notify(0, "READY=1");
                r = sd_event_loop(event);
        }
        reaper_free(reaper);
        sd_event_unref(event);
        if (r < 0)
                log_err("the reaper failed: %s", strerrordesc_np(-r));
        return r < 0 ? EXIT_SOFTWARE : r;
}

int main(int argc, char **argv) {
        _cleanup_(database_done) Database database = { 0 };
        char problem[ORDERS_PROBLEM_MAX];
        Orders orders;

        int r = orders_read(argc, argv, &orders, problem);
        if (r == ORDERS_HELP) {
                fputs(help, stdout);
                return 0;
        }
        if (r < 0) {
                print_problem(problem);
                return EXIT_USAGE;
        }
        if (find_database(&orders, &database) < 0)
                return EXIT_CONFIG;
        log_open("endwell-reaper", orders.log_format, orders.log_level);
        follow(&orders);
        return run(&orders, &database);
}
