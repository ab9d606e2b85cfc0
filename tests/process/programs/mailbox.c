/* mailbox.c - notify messages come whole, in order and to the right slot, and nobody's flood delays anything. */
#include "supervisor/mailbox.h"
#include "base/clock.h"
#include "base/take.h"
#include "supervisor/roster.h"
#include "supervisor/signals.h"
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>

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

static void note(char letter) {
        if (n_history + 1 < sizeof history)
                history[n_history++] = letter;
}

static void on_message(void *userdata, uint32_t slot, pid_t pid, uid_t uid, const NotifyWords *words) {
        (void)userdata;
        CHECK(slot < SLOTS);
        note('m');
        n_messages++;
        by_slot[slot]++;
        last = *words;
        last_sender = pid;
        last_uid = uid;
        if (extra)
                extra(slot, words);
}

static void on_collected(void *userdata, pid_t pid, const RosterEntry *entry, Ended how) {
        (void)userdata, (void)pid, (void)entry;
        note('c');
        n_collected++;
        CHECK(how.code == CLD_KILLED || how.status == 0); /* a helper that found a fault says 1 */
}

static void on_signal(void *userdata, const SignalReceived *received) {
        (void)userdata;
        if (received->number == SIGTERM) {
                note('T');
                n_terms++;
        } else if (received->number == SIGCHLD)
                roster_on_child(roster, received->child);
}

static void open_mailbox(void) {
        memset(history, 0, sizeof history);
        memset(by_slot, 0, sizeof by_slot);
        n_history = n_messages = n_collected = n_terms = 0;
        extra = NULL;
        CHECK(sd_event_new(&event) >= 0);
        CHECK_EQUAL(mailbox_new(&mailbox, event, directory, SLOTS, on_message, NULL), 0);
        CHECK_EQUAL(roster_new(&roster, event, on_collected, NULL), 0);
        CHECK_EQUAL(signals_new(&signals, event, on_signal, NULL), 0);
        CHECK_EQUAL(mailbox_open(mailbox, 0, "zero"), 0);
        CHECK_EQUAL(mailbox_open(mailbox, 1, "one"), 0);
}

static void close_mailbox(void) {
        mailbox = mailbox_free(mailbox);
        roster = roster_free(roster);
        signals = signals_free(signals);
        event = sd_event_unref(event);
        CHECK(rmdir(directory) == 0 && mkdir(directory, 0711) == 0); /* so every socket was unlinked */
}

static struct sockaddr_un address_of(const char *name) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", directory, name);
        return address;
}

static int send_with(const char *name, const void *text, size_t length, const int *fds, size_t n_fds) {
        struct sockaddr_un address = address_of(name);
        char space[CMSG_SPACE(253 * sizeof(int))] = { 0 };
        struct iovec part = { .iov_base = (void *)text, .iov_len = length };
        struct msghdr message = { .msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1 };
        if (n_fds > 0) {
                message.msg_control = space;
                message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
                struct cmsghdr *header = CMSG_FIRSTHDR(&message);
                *header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(n_fds * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
                memcpy(CMSG_DATA(header), fds, n_fds * sizeof(int));
        }
        return sendmsg(sender, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void say(const char *name, const char *text) {
        CHECK_EQUAL(send_with(name, text, strlen(text), NULL, 0), 0);
}

static void turn(void) {
        CHECK(sd_event_run(event, 20 * USEC_PER_SEC) > 0);
}

static void run_until(const unsigned *count, unsigned n) {
        while (*count < n)
                turn();
}

static void help(void (*helper)(void)) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid > 0)
                return;
        helper();
        _exit(0);
}

static void say_many_things(void) {
        struct sockaddr_un address = address_of("one");
        CHECK(setenv("NOTIFY_SOCKET", address.sun_path, 1) == 0);
        CHECK(sd_notify(0, "READY=1\nSTATUS=all well\nMAINPID=42\nX_ENDWELL_ACTIVE=3") > 0);
        CHECK(sd_notify_barrier(0, 10 * USEC_PER_SEC) > 0);
}

static void words_come_to_their_slot_and_the_barrier_is_answered(void) {
        open_mailbox();
        help(say_many_things);
        run_until(&n_messages, 1);
        CHECK(last.ready && last.main_pid == 42 && last.has_active && last.active == 3);
        CHECK(strcmp(last.status, "all well") == 0);
        CHECK(last_sender > 1 && last_uid == 0);
        run_until(&n_messages, 2);
        CHECK(last.barrier && !last.ready);
        run_until(&n_collected, 1); /* with status 0: the barrier was no time-out */
        CHECK_EQUAL(by_slot[1], 2);
        close_mailbox();
}

static int barrier_end;

static bool is_hung_up(int fd) {
        struct pollfd end = { .fd = fd };
        CHECK(poll(&end, 1, 0) >= 0);
        return end.revents & POLLHUP;
}

static void look_at_barrier(uint32_t slot, const NotifyWords *words) {
        (void)slot, (void)words;
        CHECK(!is_hung_up(barrier_end));
}

static void a_barrier_is_closed_when_everything_before_it_was_handled(void) {
        int ends[2];
        open_mailbox();
        extra = look_at_barrier;
        CHECK(pipe2(ends, O_CLOEXEC) == 0);
        barrier_end = ends[0];
        say("zero", "STATUS=1");
        say("zero", "STATUS=2");
        CHECK_EQUAL(send_with("zero", "BARRIER=1", 9, &ends[1], 1), 0);
        close(ends[1]);
        run_until(&n_messages, 3);
        CHECK(is_hung_up(ends[0]));
        close(ends[0]);
        close_mailbox();
}

static size_t count_descriptors(void) {
        size_t n = 0;
        for (int fd = 0; fd < 4096; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

static void descriptors_that_come_along_are_closed(void) {
        static const size_t numbers[] = { 1, 2, 16, 17, 253 };
        int fds[253];
        open_mailbox();
        for (size_t i = 0; i < LENGTH_OF(fds); i++)
                fds[i] = 0;
        size_t before = count_descriptors();
        for (size_t i = 0; i < LENGTH_OF(numbers); i++) {
                CHECK_EQUAL(send_with("zero", i % 2 ? "FDSTORE=1" : "", i % 2 ? 9 : 0, fds, numbers[i]), 0);
                turn();
                CHECK_EQUAL(count_descriptors(), before);
        }
        CHECK_EQUAL(n_messages, 2); /* an empty datagram says nothing */
        close_mailbox();
}

static void be_refused(void) {
        CHECK(setresgid(65533, 65533, 65533) == 0 && setresuid(65533, 65533, 65533) == 0);
        CHECK_EQUAL(send_with("zero", "READY=1", 7, NULL, 0), -EACCES);
}

static void another_user_is_refused_by_the_mode_of_the_socket(void) {
        struct sockaddr_un address = address_of("zero");
        struct stat status;
        mode_t mask = umask(0);
        open_mailbox();
        CHECK_EQUAL(umask(mask), 0); /* ours is as it was */
        CHECK(stat(address.sun_path, &status) == 0 && S_ISSOCK(status.st_mode));
        CHECK_EQUAL(status.st_mode & 07777, 0600);
        CHECK_EQUAL(status.st_uid, geteuid());
        CHECK(chmod(directory, 0711) == 0);
        help(be_refused);
        run_until(&n_collected, 1);
        CHECK_EQUAL(n_messages, 0);
        close_mailbox();
}

static void say_ready(void) {
        say("zero", "READY=1");
}

static void sigterm_comes_first_then_words_then_the_death_of_their_sender(void) {
        siginfo_t info;
        open_mailbox();
        help(say_ready);
        CHECK(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0);
        for (int i = 0; i < 8; i++)
                say("zero", "STATUS=x");
        CHECK(kill(getpid(), SIGTERM) == 0);
        run_until(&n_collected, 1);
        CHECK(strcmp(history, "Tmmmmmmmmmc") == 0);
        close_mailbox();
}

#define FLOOD 2500

static unsigned next_number;

static void expect_next(uint32_t slot, const NotifyWords *words) {
        if (slot == 0)
                CHECK_EQUAL(atoi(words->status), next_number++);
}

static void flood(void) {
        char text[32];
        for (int i = 0; i < FLOOD; i++) {
                snprintf(text, sizeof text, "STATUS=%d", i);
                say("zero", text);
        }
}

static void a_flood_is_slowed_down_and_loses_nothing(void) {
        usec_t since = clock_now_usec();
        open_mailbox();
        next_number = 0;
        extra = expect_next;
        help(flood);
        while (by_slot[0] < FLOOD) {
                turn();
                usec_t windows = (clock_now_usec() - since) / (100 * USEC_PER_MSEC);
                CHECK(by_slot[0] <= 500 * (windows + 1));
        }
        run_until(&n_collected, 1);
        close_mailbox();
}

static void flood_for_ever(void) {
        for (;;)
                say("zero", "WATCHDOG=1");
}

static void say_ready_on_one(void) {
        say("one", "READY=1");
        CHECK(kill(1, SIGTERM) == 0);
}

static int count_turn(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        (void)source, (void)fd, (void)events;
        (*(unsigned *)userdata)++;
        return 0;
}

static void beside_a_flood_everybody_else_is_heard(void) {
        sd_event_source *source;
        unsigned turns = 0, collected = 0;
        open_mailbox();
        int always_ready = eventfd(1, EFD_CLOEXEC);
        CHECK(sd_event_add_io(event, &source, always_ready, EPOLLIN, count_turn, &turns) >= 0);
        help(flood_for_ever);
        run_until(&by_slot[0], 700); /* so it was muted once */
        for (unsigned i = 1; i <= 20; i++) {
                usec_t since = clock_now_usec();
                unsigned before = by_slot[0];
                help(say_ready_on_one);
                run_until(&by_slot[1], i);
                run_until(&n_terms, i);
                run_until(&n_collected, ++collected);
                CHECK(by_slot[0] - before <= 500 * ((clock_now_usec() - since) / (100 * USEC_PER_MSEC) + 2));
                run_until(&turns, turns + 1); /* and sources of ordinary rank have their turn */
        }
        CHECK(kill(-1, SIGKILL) == 0);
        run_until(&n_collected, ++collected);
        sd_event_source_disable_unref(source);
        close(always_ready);
        close_mailbox();
}

static void flood_for_ever_on(unsigned i) {
        char name[16];
        snprintf(name, sizeof name, "s%u", i);
        for (;;)
                say(name, "WATCHDOG=1");
}

/* Twelve sockets within their own limit would be 6,000 in a window. */
static void many_floods_together_are_slowed_down_too(void) {
        open_mailbox();
        for (unsigned i = 2; i < 22; i++) {
                char name[16];
                snprintf(name, sizeof name, "s%u", i);
                CHECK_EQUAL(mailbox_open(mailbox, i, name), 0);
                if (fork() == 0)
                        flood_for_ever_on(i);
        }
        usec_t since = clock_now_usec();
        while (n_messages < 15000) {
                turn();
                CHECK(n_messages <= 5000 * ((clock_now_usec() - since) / (100 * USEC_PER_MSEC) + 2));
        }
        for (unsigned i = 2; i < 22; i++)
                CHECK(by_slot[i] > 0);
        CHECK(kill(getpid(), SIGTERM) == 0);
        run_until(&n_terms, 1);
        CHECK(kill(-1, SIGKILL) == 0);
        run_until(&n_collected, 20);
        close_mailbox();
}

static void a_drain_takes_what_is_queued_on_one_slot(void) {
        open_mailbox();
        for (int i = 0; i < 5; i++)
                say("zero", "STATUS=x");
        say("one", "READY=1");
        mailbox_drain(mailbox, 0);
        CHECK_EQUAL(by_slot[0], 5);
        CHECK_EQUAL(by_slot[1], 0);
        mailbox_drain(mailbox, 0);
        mailbox_drain(mailbox, 2);
        mailbox_drain(mailbox, SLOTS);
        CHECK_EQUAL(n_messages, 5);
        run_until(&n_messages, 6);
        close_mailbox();
}

static void a_text_that_is_too_long_is_read_up_to_its_last_whole_line(void) {
        char text[20000];
        memset(text, 'x', sizeof text);
        memcpy(text, "READY=1\nX=", 10);
        memcpy(text + 8192 - 11, "\nMAINPID=12345\n", 15); /* cut behind 12 */
        open_mailbox();
        CHECK_EQUAL(send_with("zero", text, sizeof text, NULL, 0), 0);
        run_until(&n_messages, 1);
        CHECK(last.ready);
        CHECK_EQUAL(last.main_pid, 0);
        close_mailbox();
}

static void close_both(uint32_t slot, const NotifyWords *words) {
        (void)slot, (void)words;
        mailbox_close(mailbox, 0);
        mailbox_close(mailbox, 1);
        mailbox_close(mailbox, 1);
}

static void a_handler_may_close_slots(void) {
        open_mailbox();
        extra = close_both;
        say("zero", "READY=1");
        say("one", "READY=1");
        turn();
        CHECK_EQUAL(n_messages, 1);
        CHECK_EQUAL(send_with("zero", "x", 1, NULL, 0), -ENOENT);
        CHECK(sd_event_run(event, 0) == 0);
        CHECK_EQUAL(mailbox_open(mailbox, 0, "zero"), 0);
        extra = NULL;
        say("zero", "READY=1");
        run_until(&n_messages, 2);
        close_mailbox();
}

static void three_hundred_sockets_are_all_heard(void) {
        open_mailbox();
        for (uint32_t i = 2; i < SLOTS; i++) {
                char name[16];
                snprintf(name, sizeof name, "s%u", i);
                CHECK_EQUAL(mailbox_open(mailbox, i, name), 0);
                close(sender); /* what waits to be read counts against its sender: one socket could not send all these */
                sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
                say(name, "READY=1");
        }
        run_until(&n_messages, SLOTS - 2);
        for (uint32_t i = 2; i < SLOTS; i++)
                CHECK_EQUAL(by_slot[i], 1);
        close_mailbox();
}

static void what_cannot_be_opened_is_said(void) {
        char name[120];
        struct sockaddr_un address = address_of("two");
        open_mailbox();
        size_t before = count_descriptors();
        size_t room = 107 - strlen(directory) - 1;
        memset(name, 'n', sizeof name);
        name[room + 1] = '\0';
        CHECK_EQUAL(mailbox_open(mailbox, 2, name), -ENAMETOOLONG);
        name[room] = '\0';
        CHECK_EQUAL(mailbox_open(mailbox, 2, name), 0);
        say(name, "READY=1");
        run_until(&n_messages, 1);
        mailbox_close(mailbox, 2);
        CHECK_EQUAL(mailbox_open(mailbox, SLOTS, "x"), -EINVAL);
        CHECK_EQUAL(mailbox_open(mailbox, 2, "../x"), -EINVAL);
        CHECK_EQUAL(mailbox_open(mailbox, 2, ""), -EINVAL);
        CHECK_EQUAL(mailbox_open(mailbox, 0, "zero"), 0); /* again */
        CHECK(mkdir(address.sun_path, 0700) == 0);
        CHECK(mailbox_open(mailbox, 2, "two") < 0);
        CHECK(rmdir(address.sun_path) == 0);
        CHECK_EQUAL(count_descriptors(), before);
        /* One that a killed run left behind is replaced. */
        int stale = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK(bind(stale, (struct sockaddr *)&address, sizeof address) == 0 && close(stale) == 0);
        CHECK_EQUAL(mailbox_open(mailbox, 2, "two"), 0);
        say("two", "READY=1");
        run_until(&n_messages, 2);
        close_mailbox();
}

int main(void) {
        signals_block();
        CHECK(mkdtemp(directory));
        sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK(sender >= 0);
        static const Case cases[] = {
                CASE(words_come_to_their_slot_and_the_barrier_is_answered),
                CASE(a_barrier_is_closed_when_everything_before_it_was_handled),
                CASE(descriptors_that_come_along_are_closed),
                CASE(another_user_is_refused_by_the_mode_of_the_socket),
                CASE(sigterm_comes_first_then_words_then_the_death_of_their_sender),
                CASE(a_drain_takes_what_is_queued_on_one_slot),
                CASE(a_text_that_is_too_long_is_read_up_to_its_last_whole_line),
                CASE(a_handler_may_close_slots),
                CASE(three_hundred_sockets_are_all_heard),
                CASE(what_cannot_be_opened_is_said),
                CASE(a_flood_is_slowed_down_and_loses_nothing),
                CASE(beside_a_flood_everybody_else_is_heard),
                CASE(many_floods_together_are_slowed_down_too),
        };
        int r = run_cases(cases, LENGTH_OF(cases));
        CHECK(rmdir(directory) == 0);
        return r;
}
