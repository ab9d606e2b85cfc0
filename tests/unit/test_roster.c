/* test_roster.c - the table of processes against a plain array that cannot be wrong. */
#include "supervisor/roster.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define PIDS 5000

static sd_event *event;
static Roster *roster;

static void collected(void *userdata, pid_t pid, const RosterEntry *entry, const char *comm, Ended how) {
        (void)userdata, (void)pid, (void)entry, (void)comm, (void)how;
}

static void open_roster(void) {
        cr_assert(sd_event_new(&event) >= 0);
        cr_assert_eq(roster_new(&roster, event, collected, NULL), 0);
}

static void close_roster(void) {
        roster = roster_free(roster);
        event = sd_event_unref(event);
}

TestSuite(roster, .init = open_roster, .fini = close_roster);

static void count(void *userdata, RosterEntry *entry) {
        unsigned *n = userdata;
        cr_expect(roster_find(roster, entry->pid) == entry);
        (*n)++;
}

static unsigned size(void) {
        unsigned n = 0;
        roster_each(roster, count, &n);
        return n;
}

/* xorshift: the same run each time it is begun with the same seed */
static uint32_t next(uint32_t *state) {
        *state ^= *state << 13;
        *state ^= *state >> 17;
        return *state ^= *state << 5;
}

static void compare(const uint32_t *owners, uint32_t seed) {
        unsigned n = 0;
        for (pid_t pid = 1; pid < PIDS; pid++) {
                const RosterEntry *entry = roster_find(roster, pid);
                cr_assert_eq(entry != NULL, owners[pid] != 0, "pid %d, seed %u", (int)pid, seed);
                if (entry)
                        cr_assert_eq(entry->owner, owners[pid], "pid %d, seed %u", (int)pid, seed);
                n += owners[pid] != 0;
        }
        cr_assert_eq(size(), n);
}

static void walk(uint32_t seed, unsigned percent_added) {
        static uint32_t owners[PIDS];
        uint32_t state = seed;
        for (int step = 1; step <= 40000; step++) {
                /* Few numbers are often hit, so runs form, wrap around the end, and close again. */
                pid_t pid = 1 + (pid_t)(next(&state) % (next(&state) % 2 ? 40 : PIDS - 1));
                if (next(&state) % 100 < percent_added) {
                        RosterEntry entry = { .pid = pid, .owner = (uint32_t)step };
                        cr_assert_eq(roster_add(roster, &entry), owners[pid] ? -EEXIST : 0, "seed %u", seed);
                        if (!owners[pid])
                                owners[pid] = (uint32_t)step;
                } else {
                        roster_remove(roster, pid);
                        owners[pid] = 0;
                }
                if (step % 2000 == 0)
                        compare(owners, seed);
        }
        for (pid_t pid = 1; pid < PIDS; pid++) {
                roster_remove(roster, pid);
                owners[pid] = 0;
        }
        compare(owners, seed);
}

Test(roster, finds_what_was_added_and_nothing_else, .timeout = 30) {
        for (uint32_t seed = 1; seed <= 3; seed++) {
                walk(seed, 80); /* grows */
                walk(seed, 50);
                walk(seed, 20); /* shrinks */
        }
}

Test(roster, what_is_no_pid_is_never_in_it) {
        cr_expect_eq(roster_add(roster, &(RosterEntry){ .pid = 0 }), -EINVAL);
        cr_expect_eq(roster_add(roster, &(RosterEntry){ .pid = -5 }), -EINVAL);
        cr_expect_null(roster_find(roster, 0));
        cr_expect_null(roster_find(roster, -5));
        roster_remove(roster, 0);
        roster_remove(roster, -5);
        cr_expect_eq(size(), 0);
}

static RosterEntry last;
static char last_comm[ROSTER_COMM_MAX];

static void remember(void *userdata, RosterEntry *entry) {
        (void)userdata;
        last = *entry;
        strcpy(last_comm, roster_comm(roster, entry));
}

static const char *comm_of(pid_t pid) {
        const RosterEntry *entry = roster_find(roster, pid);
        return entry ? roster_comm(roster, entry) : NULL;
}

/* Names go and come while others stay: none may show up under another pid. */
Test(roster, each_orphan_keeps_its_own_name, .timeout = 30) {
        static char names[PIDS][ROSTER_COMM_MAX];
        uint32_t state = 7;
        for (int step = 0; step < 40000; step++) {
                pid_t pid = 1 + (pid_t)(next(&state) % (PIDS - 1));
                if (roster_find(roster, pid)) {
                        cr_assert_str_eq(comm_of(pid), names[pid]);
                        roster_remove(roster, pid);
                        names[pid][0] = '\0';
                        continue;
                }
                cr_assert_eq(roster_add(roster, &(RosterEntry){ .pid = pid, .kind = ROSTER_ORPHAN }), 0);
                cr_assert_str_empty(comm_of(pid), "nobody's name is inherited");
                if (next(&state) % 4 == 0)
                        continue;
                snprintf(names[pid], sizeof names[pid], "n%u-%u", (unsigned)pid % PIDS, (unsigned)step % 100000U);
                roster_set_comm(roster, pid, names[pid]);
        }
        for (pid_t pid = 1; pid < PIDS; pid++)
                if (roster_find(roster, pid))
                        cr_expect_str_eq(comm_of(pid), names[pid], "pid %d", (int)pid);
}

Test(roster, a_name_that_is_given_twice_takes_no_second_place) {
        char comm[ROSTER_COMM_MAX] = "first";
        cr_assert_eq(roster_add(roster, &(RosterEntry){ .pid = 5, .kind = ROSTER_ORPHAN }), 0);
        roster_set_comm(roster, 5, comm);
        roster_each(roster, remember, NULL);
        unsigned place = last.name;
        strcpy(comm, "second");
        roster_set_comm(roster, 5, comm);
        roster_each(roster, remember, NULL);
        cr_expect_eq(last.name, place);
        cr_expect_str_eq(last_comm, "second");
}

/* Four times as many numbers as the kernel has is the end, whoever asks. */
Test(roster, does_not_grow_without_a_bound, .timeout = 30) {
        int r = 0, n = 0;
        for (pid_t pid = 1; r == 0 && pid < (40 << 20); pid++) {
                r = roster_add(roster, &(RosterEntry){ .pid = pid });
                n += r == 0;
        }
        cr_expect_eq(r, -ENOMEM);
        cr_expect(n >= 32768);
        cr_expect_not_null(roster_find(roster, n));
}
