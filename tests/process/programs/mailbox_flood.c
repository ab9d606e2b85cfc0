/* mailbox_flood.c - nobody's flood of messages delays anybody else, and none of it is lost. */
#include "base/clock.h"
#include "post.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

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

static void flood_with_descriptors(void) {
        static int fds[253]; /* 0, so often */
        for (int i = 0; i < 60; i++)
                CHECK_EQUAL(send_with("zero", "FDSTORE=1", 9, fds, 253), 0);
}

static void descriptors_count_as_much_as_messages(void) {
        usec_t since = clock_now_usec();
        open_mailbox();
        help(flood_with_descriptors);
        while (by_slot[0] < 60) {
                turn();
                usec_t windows = (clock_now_usec() - since) / (100 * USEC_PER_MSEC);
                CHECK(by_slot[0] <= 2 * (windows + 1)); /* two of them are 508 */
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
                CHECK_EQUAL(mailbox_open(mailbox, i, name, (uid_t)-1), 0);
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

int main(void) {
        static const Case cases[] = {
                CASE(a_flood_is_slowed_down_and_loses_nothing),
                CASE(descriptors_count_as_much_as_messages),
                CASE(beside_a_flood_everybody_else_is_heard),
                CASE(many_floods_together_are_slowed_down_too),
        };
        return run_post(cases, LENGTH_OF(cases));
}
