/* upward.c - see upward.h. */
#include "supervisor/upward.h"
#include "base/take.h"
#include "shutdown/sentence.h"
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STATUS_USEC    (1 * USEC_PER_SEC)  /* between two statuses, at least */
#define EXTENSION_USEC (30 * USEC_PER_SEC) /* start-up is promised to say something within this time */
#define EXTEND_USEC    (10 * USEC_PER_SEC) /* and does so often enough that two may get lost */
#define MARGIN_USEC    (1 * USEC_PER_SEC)  /* between our deadline and the parent's SIGKILL */
#define RETRY_USEC     (1 * USEC_PER_SEC)
#define RETRY_MAX_USEC (8 * USEC_PER_SEC)
#define WATCHDOG_MIN   (20 * USEC_PER_MSEC) /* one that is shorter is answered as if it were this */
#define WORDS_MAX      (SENTENCE_MAX + 128)

/* There is one parent. */
static struct {
        int fd; /* -1: nobody wants to hear */
        struct sockaddr_un address;
        socklen_t length;
        bool owes_ready, owes_stopping, owes_extension;
        bool starting, ending;
        usec_t gone_usec;                /* the instant at which we are gone at last; USEC_INFINITY before the ending */
        usec_t extend_usec, status_usec; /* instants at which the next one may go */
        usec_t retry_usec, patience_usec; /* what is owed is tried again then; and how long after that */
        usec_t watchdog_usec;             /* how long the parent waits; 0: it has no watchdog */
        usec_t watched_usec;              /* the instant of the next WATCHDOG=1 */
        char status[SENTENCE_MAX];        /* to be said; "" when there is none */
        char waiting[SENTENCE_MAX];       /* said last of what start-up waits for */
} upward = { .fd = -1 };

/* A path, or @NAME in the abstract namespace. */
static int read_address(const char *text) {
        size_t length = strlen(text);
        if ((text[0] != '/' && text[0] != '@') || length < 2 || length >= sizeof upward.address.sun_path)
                return -EINVAL;
        upward.address = (struct sockaddr_un){ .sun_family = AF_UNIX };
        memcpy(upward.address.sun_path, text, length);
        if (text[0] == '@')
                upward.address.sun_path[0] = '\0';
        upward.length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (text[0] == '/'));
        return 0;
}

/* A positive number of a variable; 0 when there is none. */
static uint64_t read_number(const char *name) {
        const char *text = getenv(name);
        char *end;
        if (!text || *text < '0' || *text > '9')
                return 0;
        errno = 0;
        uint64_t number = strtoull(text, &end, 10);
        return errno == 0 && !*end ? number : 0;
}

/* Whose watchdog it is stands beside it: variables are inherited by those whom they do not concern. */
static usec_t read_watchdog(void) {
        usec_t interval = read_number("WATCHDOG_USEC");
        if (interval == 0 || interval >= USEC_INFINITY / 2)
                return 0;
        if (getenv("WATCHDOG_PID") && read_number("WATCHDOG_PID") != (uint64_t)getpid())
                return 0;
        return usec_max(interval, WATCHDOG_MIN);
}

void upward_open(bool pass_on, usec_t now_usec) {
        const char *text = getenv("NOTIFY_SOCKET");
        upward_close();
        if (text && read_address(text) == 0) {
                /* Without a socket the parent hears nothing, and all else goes on. */
                upward.fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
                upward.watchdog_usec = read_watchdog();
                upward.watched_usec = upward.watchdog_usec > 0 ? now_usec : USEC_INFINITY;
        }
        if (!pass_on)
                (void)unsetenv("NOTIFY_SOCKET");
        (void)unsetenv("WATCHDOG_USEC");
        (void)unsetenv("WATCHDOG_PID");
}

void upward_close(void) {
        close_fd(upward.fd);
        memset(&upward, 0, sizeof upward);
        upward.fd = -1;
        upward.gone_usec = upward.watched_usec = upward.extend_usec = upward.retry_usec = USEC_INFINITY;
        upward.patience_usec = RETRY_USEC;
}

bool upward_is_open(void) {
        return upward.fd >= 0;
}

/* ---- What is said ---- */

static bool owes(void) {
        return upward.owes_ready || upward.owes_stopping || upward.owes_extension;
}

/* In start-up for as long as it takes, and again and again; in the ending once, until our own deadline. */
static usec_t extension(usec_t now_usec) {
        return upward.ending ? usec_add(usec_sub(upward.gone_usec, now_usec), MARGIN_USEC) : EXTENSION_USEC;
}

static size_t write_words(char words[static WORDS_MAX], usec_t now_usec, bool with_status) {
        char extended[64] = "";
        if (upward.owes_extension)
                snprintf(extended, sizeof extended, "EXTEND_TIMEOUT_USEC=%" PRIu64 "\n", extension(now_usec));
        int n = snprintf(words, WORDS_MAX, "%s%s%s%s%s%s", upward.owes_ready ? "READY=1\n" : "",
                         upward.owes_stopping ? "STOPPING=1\n" : "", extended,
                         upward.watched_usec <= now_usec ? "WATCHDOG=1\n" : "", with_status ? "STATUS=" : "",
                         with_status ? upward.status : "");
        return (size_t)n;
}

static void note_sent(usec_t now_usec, bool with_status) {
        upward.owes_ready = upward.owes_stopping = upward.owes_extension = false;
        upward.retry_usec = USEC_INFINITY;
        upward.patience_usec = RETRY_USEC;
        if (upward.watched_usec <= now_usec)
                upward.watched_usec = usec_add(now_usec, upward.watchdog_usec / 2);
        if (!with_status)
                return;
        upward.status[0] = '\0';
        upward.status_usec = usec_add(now_usec, STATUS_USEC);
}

/* A status that could not be sent is lost: the next one is newer. */
static void note_lost(usec_t now_usec) {
        upward.status[0] = '\0';
        if (upward.watched_usec <= now_usec)
                upward.watched_usec = usec_add(now_usec, upward.watchdog_usec / 8);
        if (!owes() || (upward.retry_usec != USEC_INFINITY && now_usec < upward.retry_usec))
                return;
        upward.retry_usec = usec_add(now_usec, upward.patience_usec);
        upward.patience_usec = usec_min(2 * upward.patience_usec, RETRY_MAX_USEC);
}

/* Sends what is due and what is owed, in one message. */
static void say(usec_t now_usec, bool with_status) {
        char words[WORDS_MAX];
        size_t length = write_words(words, now_usec, with_status);
        if (length == 0)
                return;
        if (sendto(upward.fd, words, length, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&upward.address,
                   upward.length) >= 0)
                note_sent(now_usec, with_status);
        else
                note_lost(now_usec);
}

/* ---- What happens ---- */

static bool is_worth_a_status(EventKind kind) {
        return kind == EVENT_SUPERVISOR_STARTED || kind == EVENT_STARTUP_FINISHED || kind == EVENT_READINESS_CHANGED ||
               kind == EVENT_ENDING_STARTED || kind == EVENT_PHASE_STARTED || kind == EVENT_DRAIN_PROGRESS ||
               kind == EVENT_ENDING_FINISHED;
}

static void note_event(const Event *event) {
        switch ((int)event->kind) {
        case EVENT_SUPERVISOR_STARTED:
                upward.starting = true;
                upward.owes_extension = true;
                upward.extend_usec = usec_add(event->mono_usec, EXTEND_USEC);
                break;
        case EVENT_STARTUP_FINISHED:
                upward.owes_ready = true;
                upward.starting = upward.owes_extension = false;
                upward.extend_usec = USEC_INFINITY;
                break;
        case EVENT_ENDING_STARTED:
                upward.owes_stopping = upward.owes_extension = upward.ending = true;
                upward.starting = false;
                upward.gone_usec = usec_add(event->mono_usec, event->deadline_usec);
                upward.extend_usec = USEC_INFINITY;
                break;
        default: break;
        }
}

void upward_tell(const Event *event) {
        if (upward.fd < 0)
                return;
        note_event(event);
        bool urgent = owes() && upward.retry_usec == USEC_INFINITY;
        if (is_worth_a_status(event->kind))
                sentence_write(event, upward.status);
        bool last = event->kind == EVENT_ENDING_FINISHED;
        bool with_status = upward.status[0] && (urgent || last || event->mono_usec >= upward.status_usec);
        if (urgent || with_status)
                say(event->mono_usec, with_status);
}

bool upward_wants_to_wait(usec_t now_usec) {
        return upward.fd >= 0 && upward.starting && !upward.status[0] && now_usec >= upward.status_usec;
}

void upward_wait(const char *text, usec_t now_usec) {
        if (!upward_wants_to_wait(now_usec))
                return;
        upward.status_usec = usec_add(now_usec, STATUS_USEC);
        if (!*text || strcmp(text, upward.waiting) == 0)
                return;
        snprintf(upward.waiting, sizeof upward.waiting, "%s", text);
        strcpy(upward.status, upward.waiting);
        say(now_usec, true);
}

usec_t upward_next_usec(void) {
        if (upward.fd < 0)
                return USEC_INFINITY;
        usec_t next = usec_min(usec_min(upward.watched_usec, upward.extend_usec), upward.retry_usec);
        return upward.starting || upward.status[0] ? usec_min(next, upward.status_usec) : next;
}

void upward_on_time(usec_t now_usec) {
        if (upward.fd < 0 || now_usec < upward_next_usec())
                return;
        if (now_usec >= upward.extend_usec) {
                upward.owes_extension = true;
                upward.extend_usec = usec_add(now_usec, EXTEND_USEC);
        }
        say(now_usec, upward.status[0] && now_usec >= upward.status_usec);
}
