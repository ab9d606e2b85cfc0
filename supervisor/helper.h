/* helper.h - the life of a built-in process beside PID 1, logger, prober or gateway: its socket, its birth, what it
 * says, its failures in a row; for *_link.c and *_talk.c only.
 *
 * When it is started and what is asked of it are the link's. Never blocks. Memory is bounded. */
#pragma once
#include "base/log.h"
#include "base/packet.h"
#include "base/usec.h"
#include "supervisor/crew.h"
#include <stdbool.h>
#include <systemd/sd-event.h>

#define HELPER_RESTART_USEC     USEC_PER_SEC /* at most once in this time */
#define HELPER_DESCRIPTION_SIZE 64

/* What it points to must outlive the helper, but for the program's path. */
typedef struct HelperPlan {
        const char *name;    /* for people */
        const char *program; /* copied */
        char *const *environment;
        const Rights *rights;      /* NULL: endwell's own */
        unsigned messages_at_once; /* between two looks at the others */
        unsigned wake_ups;         /* to hear it, in wake_ups_usec; 0: as many as it likes */
        usec_t wake_ups_usec;
        void (*heard)(void *link, const Packet *packet);
        void (*writable)(void *link); /* asked for by helper_want_to_write() */
        void *link;
        void (*spawned)(void *userdata, pid_t pid);
        void (*say)(void *userdata, LogLevel level, const char *sentence);
        void *userdata;
} HelperPlan;

typedef struct Helper {
        HelperPlan plan;
        char *program;
        sd_event *event;
        sd_event_source *talk, *birth;
        int socket; /* ours; -1: nobody to talk to */
        int failure_fd;
        pid_t pid;           /* 0: none lives */
        usec_t started_usec; /* 0: never was */
        unsigned failures;   /* in a row */
        bool given_up, finishing;
} Helper;

int helper_init(Helper *helper, sd_event *event,
                const HelperPlan *plan); /* 0 or -ENOMEM; helper_done() in both cases */
void helper_done(Helper *helper);
void helper_say(const Helper *helper, LogLevel level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Makes the process, on one end of a new socket, and listens to it. `argv[0]` is the program. 0; -errno when it could
 * not be made, which was said and counted. Should only the listening fail, it will see its socket closed and exit. */
int helper_start(Helper *helper, char *const *argv);
/* The same for what had to be there before: `error` is said and counted. */
void helper_fail_to_start(Helper *helper, int error);
void helper_disconnect(Helper *helper);
void helper_want_to_write(const Helper *helper, bool wanted);
/* The roster has collected it: hears what it had still said, and why it could not begin. */
void helper_bury(Helper *helper);
/* In a row: who lived for long before did not fail in a row. */
void helper_count_failure(Helper *helper);
/* "ended with exit code 1", "was killed by SIGKILL". */
const char *helper_describe_end(Ended how, char ret_text[static HELPER_DESCRIPTION_SIZE]);
