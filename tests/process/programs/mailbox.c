/* mailbox.c - notify messages come whole, in order and to the right slot, and what came with them is closed. */
#include "post.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>

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

static int kept;

static void keep_the_second(uint32_t slot, const NotifyWords *words) {
        (void)slot;
        CHECK_EQUAL(n_came, words->fdstore ? 3 : 0);
        if (!words->fdstore)
                return;
        kept = came[1];
        came[1] = -1;
}

static void a_descriptor_that_the_handler_keeps_stays_open(void) {
        int ends[2];
        open_mailbox();
        extra = keep_the_second;
        CHECK(pipe2(ends, O_CLOEXEC) == 0);
        size_t before = count_descriptors();
        CHECK_EQUAL(send_with("zero", "FDSTORE=1", 9, (int[]){ 0, ends[1], 0 }, 3), 0);
        say("zero", "STATUS=nothing came with this one");
        run_until(&n_messages, 2);
        CHECK_EQUAL(count_descriptors(), before + 1);
        CHECK(fcntl(kept, F_GETFD) & FD_CLOEXEC);
        close(ends[1]);
        CHECK(!is_hung_up(ends[0]));
        close(kept);
        CHECK(is_hung_up(ends[0]));
        close(ends[0]);
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

static void be_heard(void) {
        CHECK(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
        CHECK_EQUAL(send_with("own", "READY=1", 7, NULL, 0), 0);
}

static void be_refused_too(void) {
        CHECK(setresgid(65533, 65533, 65533) == 0 && setresuid(65533, 65533, 65533) == 0);
        CHECK_EQUAL(send_with("own", "READY=1", 7, NULL, 0), -EACCES);
}

static void the_socket_of_a_user_is_his_and_nobody_elses(void) {
        struct sockaddr_un address = address_of("own");
        struct stat status;
        open_mailbox();
        CHECK_EQUAL(mailbox_open(mailbox, 2, "own", 65534), 0);
        CHECK(stat(address.sun_path, &status) == 0);
        CHECK_EQUAL(status.st_mode & 07777, 0600);
        CHECK_EQUAL(status.st_uid, 65534);
        CHECK(chmod(directory, 0711) == 0);
        help(be_refused_too);
        help(be_heard);
        run_until(&n_messages, 1);
        run_until(&n_collected, 2);
        CHECK_EQUAL(last_uid, 65534);
        CHECK_EQUAL(by_slot[2], 1);
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
        CHECK_EQUAL(mailbox_open(mailbox, 0, "zero", (uid_t)-1), 0);
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
                CHECK_EQUAL(mailbox_open(mailbox, i, name, (uid_t)-1), 0);
                close(sender); /* what waits to be read counts against its sender: one socket could not send all these
                                */
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
        CHECK_EQUAL(mailbox_open(mailbox, 2, name, (uid_t)-1), -ENAMETOOLONG);
        name[room] = '\0';
        CHECK_EQUAL(mailbox_open(mailbox, 2, name, (uid_t)-1), 0);
        say(name, "READY=1");
        run_until(&n_messages, 1);
        mailbox_close(mailbox, 2);
        CHECK_EQUAL(mailbox_open(mailbox, SLOTS, "x", (uid_t)-1), -EINVAL);
        CHECK_EQUAL(mailbox_open(mailbox, 2, "../x", (uid_t)-1), -EINVAL);
        CHECK_EQUAL(mailbox_open(mailbox, 2, "", (uid_t)-1), -EINVAL);
        CHECK_EQUAL(mailbox_open(mailbox, 0, "zero", (uid_t)-1), 0); /* again */
        CHECK(mkdir(address.sun_path, 0700) == 0);
        CHECK(mailbox_open(mailbox, 2, "two", (uid_t)-1) < 0);
        CHECK(rmdir(address.sun_path) == 0);
        CHECK_EQUAL(count_descriptors(), before);
        /* One that a killed run left behind is replaced. */
        int stale = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK(bind(stale, (struct sockaddr *)&address, sizeof address) == 0 && close(stale) == 0);
        CHECK_EQUAL(mailbox_open(mailbox, 2, "two", (uid_t)-1), 0);
        say("two", "READY=1");
        run_until(&n_messages, 2);
        close_mailbox();
}

int main(void) {
        static const Case cases[] = {
                CASE(words_come_to_their_slot_and_the_barrier_is_answered),
                CASE(a_barrier_is_closed_when_everything_before_it_was_handled),
                CASE(descriptors_that_come_along_are_closed),
                CASE(a_descriptor_that_the_handler_keeps_stays_open),
                CASE(the_socket_of_a_user_is_his_and_nobody_elses),
                CASE(another_user_is_refused_by_the_mode_of_the_socket),
                CASE(sigterm_comes_first_then_words_then_the_death_of_their_sender),
                CASE(a_drain_takes_what_is_queued_on_one_slot),
                CASE(a_text_that_is_too_long_is_read_up_to_its_last_whole_line),
                CASE(a_handler_may_close_slots),
                CASE(three_hundred_sockets_are_all_heard),
                CASE(what_cannot_be_opened_is_said),
        };
        return run_post(cases, LENGTH_OF(cases));
}
