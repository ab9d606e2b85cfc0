/* post.h - a mailbox in a loop with a roster and signals, what came of it, and senders. */
#pragma once
#include "base/take.h"
#include "check.h"
#include "supervisor/mailbox.h"
#include "supervisor/roster.h"
#include "supervisor/signals.h"
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define SLOTS 300

static char directory[] = "/tmp/endwell-mailbox-XXXXXX";
static sd_event *event;
static Mailbox *mailbox;
static Roster *roster;
static Signals *signals;
static int sender;

/* What happened, in its order: a letter each. m message, T SIGTERM, c collected. */
static char history[100];
static size_t n_history;
static unsigned by_slot[SLOTS], n_messages, n_collected, n_terms;
static NotifyWords last;
static pid_t last_sender;
static uid_t last_uid;
static void (*extra)(uint32_t slot, const NotifyWords *words);

static inline void note(char letter) {
        if (n_history + 1 < sizeof history)
                history[n_history++] = letter;
}

static int *came; /* the descriptors of the message that is being handled */
static size_t n_came;

static inline void on_message(void *userdata, uint32_t slot, const MailboxMessage *message) {
        (void)userdata;
        CHECK(slot < SLOTS);
        note('m');
        n_messages++;
        by_slot[slot]++;
        last = *message->words;
        last_sender = message->sender;
        last_uid = message->sender_uid;
        came = message->fds;
        n_came = message->n_fds;
        if (extra)
                extra(slot, message->words);
}

static inline void on_collected(void *userdata, pid_t pid, const RosterEntry *entry, const char *comm, Ended how) {
        (void)userdata, (void)pid, (void)entry, (void)comm;
        note('c');
        n_collected++;
        CHECK(how.code == CLD_KILLED || how.status == 0); /* a helper that found a fault says 1 */
}

static inline void on_signal(void *userdata, const SignalReceived *received) {
        (void)userdata;
        if (received->number == SIGTERM) {
                note('T');
                n_terms++;
        } else if (received->number == SIGCHLD)
                roster_on_child(roster, received->child);
}

static inline void open_mailbox(void) {
        memset(history, 0, sizeof history);
        memset(by_slot, 0, sizeof by_slot);
        n_history = n_messages = n_collected = n_terms = 0;
        extra = NULL;
        CHECK(sd_event_new(&event) >= 0);
        CHECK_EQUAL(mailbox_new(&mailbox, event, directory, SLOTS, on_message, NULL), 0);
        CHECK_EQUAL(roster_new(&roster, event, on_collected, NULL), 0);
        CHECK_EQUAL(signals_new(&signals, event, on_signal, NULL), 0);
        CHECK_EQUAL(mailbox_open(mailbox, 0, "zero", (uid_t)-1), 0);
        CHECK_EQUAL(mailbox_open(mailbox, 1, "one", (uid_t)-1), 0);
}

static inline void close_mailbox(void) {
        mailbox = mailbox_free(mailbox);
        roster = roster_free(roster);
        signals = signals_free(signals);
        event = sd_event_unref(event);
        CHECK(rmdir(directory) == 0 && mkdir(directory, 0711) == 0); /* so every socket was unlinked */
}

static inline struct sockaddr_un address_of(const char *name) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        CHECK((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name) <
              sizeof address.sun_path);
        return address;
}

static inline int send_with(const char *name, const void *text, size_t length, const int *fds, size_t n_fds) {
        struct sockaddr_un address = address_of(name);
        char space[CMSG_SPACE(253 * sizeof(int))] = { 0 };
        struct iovec part = { .iov_base = (void *)text, .iov_len = length };
        struct msghdr message = {
                .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1
        };
        if (n_fds > 0) {
                message.msg_control = space;
                message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
                struct cmsghdr *header = CMSG_FIRSTHDR(&message);
                *header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
                memcpy(CMSG_DATA(header), fds, n_fds * sizeof(int));
        }
        return sendmsg(sender, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static inline void say(const char *name, const char *text) {
        CHECK_EQUAL(send_with(name, text, strlen(text), NULL, 0), 0);
}

static inline void turn(void) {
        CHECK(sd_event_run(event, 20 * USEC_PER_SEC) > 0);
}

static inline void run_until(const unsigned *count, unsigned n) {
        while (*count < n)
                turn();
}

static inline void help(void (*helper)(void)) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid > 0)
                return;
        helper();
        _exit(0);
}

static inline int run_post(const Case *cases, size_t n) {
        signals_block();
        CHECK(mkdtemp(directory));
        sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK(sender >= 0);
        int r = run_cases(cases, n);
        CHECK(rmdir(directory) == 0);
        return r;
}
