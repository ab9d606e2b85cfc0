/* logger_link.c - the life of the logger process: started, started again, given up, finished. */
#include "supervisor/logger_link.h"
#include "base/clock.h"
#include "base/take.h"
#include "supervisor/logger_link_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MESSAGES_AT_ONCE 16
#define WAKE_UPS         50 /* in WAKE_UPS_USEC: a flood of marks holds up its service, not PID 1 */
#define WAKE_UPS_USEC    (100 * USEC_PER_MSEC)

/* ---- Its life ---- */

static void disconnect(LoggerLink *link) {
        helper_disconnect(&link->helper);
        link_journal_stop(&link->journal);
}

static int spawn(LoggerLink *link) {
        const Config *config = link->plan.config;
        char *argv[16], size[24], group[16];
        unsigned n = 0;

        argv[n++] = link->helper.program;
        argv[n++] = (char *)"--log-format";
        argv[n++] = (char *)log_format_to_string(config->log_format);
        argv[n++] = (char *)"--log-level";
        argv[n++] = (char *)log_level_to_string(config->log_level);
        if (link->plan.journal_path) {
                snprintf(size, sizeof size, "%" PRIu64, link->plan.journal_max_size);
                argv[n++] = (char *)"--journal";
                argv[n++] = (char *)link->plan.journal_path;
                argv[n++] = (char *)"--journal-max-size";
                argv[n++] = size;
        }
        if (link->plan.logs_path) {
                argv[n++] = (char *)"--logs";
                argv[n++] = (char *)link->plan.logs_path;
        }
        if (config->control_group >= 0) {
                snprintf(group, sizeof group, "%d", config->control_group);
                argv[n++] = (char *)"--group";
                argv[n++] = group;
        }
        argv[n] = NULL;
        return helper_start(&link->helper, argv);
}

static void go_on_without(LoggerLink *link);

static void start(LoggerLink *link) {
        int r = link->plan.journal_path ? link_journal_start(&link->journal) : 0;
        if (r < 0)
                helper_fail_to_start(&link->helper, -r);
        else
                r = spawn(link);
        if (r < 0) {
                go_on_without(link);
                return;
        }
        if (link->helper.socket < 0)
                link_journal_stop(&link->journal);
        link_streams_forget(&link->streams);
        link_send_or_wait(link);
        link_journal_pump(&link->journal);
}

static int on_restart(sd_event_source *source, uint64_t usec, void *userdata) {
        LoggerLink *link = userdata;

        (void)usec;
        link->restart = sd_event_source_disable_unref(source);
        start(link);
        return 0;
}

static void give_up(LoggerLink *link) {
        link->helper.given_up = true;
        helper_say(&link->helper, LOG_LEVEL_ERR,
                   "the logger was given up after %u failures in a row: hooks by LogPattern are not seen, output of "
                   "services that have one is dropped until they are started again%s; SIGUSR2 tries again",
                   link->helper.failures, link->plan.journal_path ? ", the journal is kept in memory only" : "");
        link_streams_drain_all(&link->streams);
}

/* After a failure, which was said and counted; or after the end that was wished for. */
static void go_on_without(LoggerLink *link) {
        usec_t due = usec_max(clock_now_usec(), usec_add(link->helper.started_usec, HELPER_RESTART_USEC));

        disconnect(link);
        if (link->settling != 0)
                link_call_settled(link); /* nobody will answer */
        if (link->helper.finishing)
                return;
        if (link->helper.failures >= LOGGER_FAILURES_MAX ||
            sd_event_add_time(link->helper.event, &link->restart, CLOCK_MONOTONIC, due, USEC_PER_MSEC, on_restart,
                              link) < 0)
                give_up(link);
}

static void say_exit(const LoggerLink *link, Ended how) {
        char text[HELPER_DESCRIPTION_SIZE];
        const char *what = helper_describe_end(how, text);

        if (link->helper.finishing)
                helper_say(&link->helper, LOG_LEVEL_WARNING, "the logger %s at the end: its last lines may be missing",
                           what);
        else
                helper_say(&link->helper, LOG_LEVEL_WARNING, "the logger %s (failure %u of at most %d in a row)", what,
                           link->helper.failures, LOGGER_FAILURES_MAX);
}

void logger_link_on_exited(LoggerLink *link, Ended how) {
        helper_bury(&link->helper);
        if (!link->helper.finishing)
                helper_count_failure(&link->helper);
        if (!link->helper.finishing || how.code != CLD_EXITED || how.status != 0)
                say_exit(link, how);
        go_on_without(link);
}

pid_t logger_link_pid(const LoggerLink *link) {
        return link->helper.pid;
}

static void on_handed_over(void *userdata) {
        LoggerLink *link = userdata;
        if (link->helper.socket >= 0)
                shutdown(link->helper.socket, SHUT_WR); /* the logger reads this as the end; we still hear it */
}

bool logger_link_finish(LoggerLink *link) {
        link->helper.finishing = true;
        link->restart = sd_event_source_disable_unref(link->restart);
        if (link->helper.pid == 0) {
                if (link->plan.journal_path)
                        helper_say(&link->helper, LOG_LEVEL_WARNING,
                                   "the end of the journal is not in %s: no logger runs", link->plan.journal_path);
                return false;
        }
        if (link->plan.journal_path)
                link_journal_end(&link->journal);
        else
                on_handed_over(link);
        return true;
}

/* ---- What the rest of PID 1 asks ---- */

void logger_link_pump(LoggerLink *link) {
        link_journal_pump(&link->journal);
}

void logger_link_reopen(LoggerLink *link) {
        if (link->helper.given_up && !link->helper.finishing) {
                link->helper.given_up = false;
                link->helper.failures = 0;
                start(link);
        } else if (link->helper.pid != 0) {
                link->reopen_unsent = true;
                link_send_or_wait(link);
        }
}

bool logger_link_settle(LoggerLink *link) {
        if (link->helper.pid == 0 || link->helper.socket < 0 || link->streams.n_used == 0)
                return false;
        link->settling = ++link->questions;
        link->settle_unsent = true;
        link_send_or_wait(link);
        return true;
}

bool logger_link_watches(const Config *config, uint16_t service) {
        const ServiceConfig *writer = &config->services[service];

        if (output_is_written_by_logger(service_output(writer)) || output_is_written_by_logger(service_error(writer)))
                return true;
        for (size_t i = 0; i < config->n_hooks; i++)
                if (config->hooks[i].log_pattern && config->hooks[i].service == (int)service)
                        return true;
        return false;
}

/* One pipe for both keeps the order between them, as one terminal or one file would. */
static bool go_to_one_place(const Output *out, const Output *err) {
        struct stat a, b;

        if (out->kind != err->kind)
                return false;
        switch (out->kind) {
        case OUTPUT_NULL: return true;
        case OUTPUT_FILE:
        case OUTPUT_APPEND:
        case OUTPUT_LOG: return strcmp(out->path, err->path) == 0;
        case OUTPUT_INHERIT:
        case OUTPUT_PREFIX:
                return fstat(STDOUT_FILENO, &a) == 0 && fstat(STDERR_FILENO, &b) == 0 && a.st_dev == b.st_dev &&
                       a.st_ino == b.st_ino;
        case OUTPUT_JSON: /* each line names its stream */
        case _OUTPUT_KIND_MAX: break;
        }
        return false;
}

static int duplicate(int fd) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        return copy < 0 ? -errno : copy;
}

/* Both sides of a writer, whose `side` is that of its stdout. */
static int open_both(LoggerLink *link, LinkWriter writer, int ret_fds[static 2]) {
        const ServiceConfig *config = &link->plan.config->services[writer.service];
        LinkWriter error = writer;

        error.side++;
        int out = link_streams_open(&link->streams, &writer);
        if (out < 0)
                return out;
        int err = go_to_one_place(service_output(config), service_error(config))
                          ? duplicate(out)
                          : link_streams_open(&link->streams, &error);
        if (err < 0) {
                close_fd(out); /* the logger sees a pipe that ends without a byte */
                return err;
        }
        ret_fds[0] = out;
        ret_fds[1] = err;
        return 0;
}

static bool takes_output(const LoggerLink *link) {
        return !link->helper.given_up && !link->helper.finishing;
}

int logger_link_open(LoggerLink *link, uint32_t member, uint16_t service, unsigned instance, int ret_fds[static 2]) {
        LinkWriter writer = { .member = member, .service = service, .instance = instance, .side = LINK_STDOUT };
        return takes_output(link) ? open_both(link, writer, ret_fds) : -ENOTCONN;
}

int logger_link_open_hook(LoggerLink *link, uint32_t member, uint16_t service, unsigned instance, const char *hook,
                          int ret_fds[static 2]) {
        const ServiceConfig *config = &link->plan.config->services[service];
        bool out = output_is_written_by_logger(service_output(config)),
             err = output_is_written_by_logger(service_error(config));
        LinkWriter writer = { .member = member,
                              .service = service,
                              .instance = instance,
                              .hook = hook,
                              .side = out ? LINK_HOOK_STDOUT : LINK_HOOK_STDERR };

        ret_fds[0] = ret_fds[1] = -1;
        if (!out && !err)
                return 0;
        if (!takes_output(link))
                return -ENOTCONN;
        if (out && err)
                return open_both(link, writer, ret_fds);
        int r = link_streams_open(&link->streams, &writer);
        if (r >= 0)
                ret_fds[err] = r;
        return r < 0 ? r : 0;
}

void logger_link_started(LoggerLink *link, uint32_t member, pid_t pid) {
        for (unsigned side = 0; side < LINK_SIDES; side++) {
                LinkStream *stream = link_streams_newest(&link->streams, member, side);
                if (stream && stream->pid == 0 && stream->state == STREAM_UNSENT)
                        stream->pid = pid;
        }
        link_send_or_wait(link);
}

/* ---- Birth and end of the link ---- */

static void on_dropped(void *userdata, const LinkStream *stream) {
        LoggerLink *link = userdata;
        helper_say(&link->helper, LOG_LEVEL_WARNING,
                   "what an earlier %s of %s@%u wrote was dropped: its target has taken nothing for %d of them",
                   stream->hook ? "hook" : "run", link->plan.config->services[stream->service].name, stream->instance,
                   stream->hook ? LOGGER_HOOKS_MAX : LOGGER_RUNS_MAX);
}

static void on_writable(void *userdata) {
        link_send_or_wait(userdata);
}

int logger_link_new(LoggerLink **ret, sd_event *event, const LoggerPlan *plan) {
        LoggerLink *link = calloc(1, sizeof *link);
        if (!link)
                return -ENOMEM;
        link->plan = *plan;
        link->plan.logs_path = NULL;
        if (plan->logs_path && !(link->plan.logs_path = strdup(plan->logs_path))) {
                free(link);
                return -ENOMEM;
        }
        link_journal_init(&link->journal, event, plan->archive);
        link->journal.on_handed_over = on_handed_over;
        link->journal.userdata = link;
        int r = helper_init(&link->helper, event,
                            &(HelperPlan){ .name = "logger",
                                           .program = plan->program,
                                           .environment = plan->environment,
                                           .messages_at_once = MESSAGES_AT_ONCE,
                                           .wake_ups = WAKE_UPS,
                                           .wake_ups_usec = WAKE_UPS_USEC,
                                           .heard = link_on_message,
                                           .writable = on_writable,
                                           .link = link,
                                           .spawned = plan->spawned,
                                           .say = plan->say,
                                           .userdata = plan->userdata });
        if (r >= 0)
                r = link_streams_init(&link->streams, event, plan->config);
        if (r < 0) {
                logger_link_free(link);
                return r;
        }
        link->streams.dropped = on_dropped;
        link->streams.userdata = link;
        *ret = link;
        start(link);
        return 0;
}

LoggerLink *logger_link_free(LoggerLink *link) {
        if (!link)
                return NULL;
        sd_event_source_disable_unref(link->restart);
        disconnect(link);
        link_journal_done(&link->journal);
        link_streams_done(&link->streams);
        helper_done(&link->helper);
        free((char *)link->plan.logs_path);
        free(link);
        return NULL;
}
