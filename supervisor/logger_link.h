/* logger_link.h - PID 1's side of endwell-logger: starts it, hands it streams and the journal, hears its marks.
 *
 * Never blocks, never reads a service's output while a logger lives. PID 1 keeps the reading end of every pipe, so a
 * logger that dies loses nothing that is in a pipe and kills no service; it is started again, at most once a second.
 * After LOGGER_FAILURES_MAX failures in a row it is given up, visibly: from then on services start with their targets
 * directly, and what still runs into a pipe is drained and dropped, because a service must neither block nor die for
 * our fault. logger_link_reopen() tries again. Memory is bounded: LOGGER_RUNS_MAX pipes for each output of a member.
 * Not started after logger_link_finish(). The words: logger/hub.h. */
#pragma once
#include "base/log.h"
#include "supervisor/archive.h"
#include "supervisor/config.h"
#include "supervisor/crew.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#define LOGGER_FAILURES_MAX 5
#define LOGGER_HOOKS_MAX    16 /* hooks of a member whose output has not come to its end */
#define LOGGER_RUNS_MAX     4  /* earlier runs whose output a stuck target still holds up, the present one included */

/* What it points to must outlive the link, but for the program's path. */
typedef struct LoggerPlan {
        const char *program; /* path of endwell-logger (libexec_find); copied */
        char *const *environment;
        const Config *config;     /* services, hooks, log settings */
        Archive *archive;         /* the journal's lines; used only with journal_path */
        const char *journal_path; /* NULL: the journal is not the logger's */
        const char *logs_path;    /* of the socket for those who ask for what was kept; NULL: nobody can. Copied */
        uint64_t journal_max_size;
        void (*spawned)(void *userdata, pid_t pid); /* also after a restart: the roster must know it */
        /* pid 0: logger_link_started() was not called for the run. */
        void (*marked)(void *userdata, uint32_t member, const char *hook, pid_t pid);
        void (*lost)(void *userdata, uint32_t member, uint64_t lines); /* left out of its output, and counted */
        void (*settled)(void *userdata);
        void (*say)(void *userdata, LogLevel level, const char *sentence);
        void *userdata;
} LoggerPlan;

typedef struct LoggerLink LoggerLink;

/* True when the output of this service must go through the logger: it has a LogPattern hook, or an output that the
 * logger writes. */
bool logger_link_watches(const Config *config, uint16_t service);

/* Starts the logger too; that it cannot be started is no error of this call, but said and tried again. */
int logger_link_new(LoggerLink **ret, sd_event *event, const LoggerPlan *plan);
LoggerLink *logger_link_free(LoggerLink *link);
pid_t logger_link_pid(const LoggerLink *link);           /* 0: none lives */
void logger_link_on_exited(LoggerLink *link, Ended how); /* the roster has collected logger_link_pid() */

/* Before a run of a watched service starts: ret_fds are the writing ends for its ChildOutput.fd, stdout and stderr (of
 * one pipe when both go to the same place), to be closed by the caller once the child is made, or could not be made. 0;
 * -ENOTCONN: the logger was given up, use the targets directly; or -errno (no descriptors, no memory). */
int logger_link_open(LoggerLink *link, uint32_t member, uint16_t service, unsigned instance, int ret_fds[static 2]);
/* The same for a hook of a service whose output the logger writes; -1 in ret_fds: that side is endwell's own. */
int logger_link_open_hook(LoggerLink *link, uint32_t member, uint16_t service, unsigned instance, const char *hook,
                          int ret_fds[static 2]);
/* Its main process, or 0: there is none. Named in the marks and lines of the streams opened last; from now on the
 * logger serves them. */
void logger_link_started(LoggerLink *link, uint32_t member, pid_t pid);

void logger_link_pump(LoggerLink *link);   /* the journal has grown */
void logger_link_reopen(LoggerLink *link); /* SIGUSR2 */
/* True: `settled` is called once all marks of output that is there now were told (a dead service's last words, before
 * its journal is closed; the caller limits its patience). False: there is nothing to wait for. */
bool logger_link_settle(LoggerLink *link);
/* The journal has its last line: hands over the rest, then closes all, and the logger ends. True: wait for its exit. */
bool logger_link_finish(LoggerLink *link);
