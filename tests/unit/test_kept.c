/* test_kept.c - the last lines are there for whoever asks, and who was overtaken is told. */
#include "logger/kept.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void put(Kept *kept, const char *service, unsigned instance, const char *text) {
        EntrySource source = { .instance = instance, .pid = 5 };
        snprintf(source.service, sizeof source.service, "%s", service);
        kept_put(kept, &(Entry){ .source = &source, .wall = 9, .text = text, .length = strlen(text) });
}

/* The texts that a reader gets, each with '|' behind it. */
static const char *read_all(Kept *kept, KeptReader *reader) {
        static char all[1 << 20];
        KeptLine line;
        size_t n = 0;

        while (kept_read(kept, reader, &line)) {
                memcpy(all + n, line.entry.text, line.entry.length);
                n += line.entry.length;
                all[n++] = '|';
        }
        all[n] = '\0';
        return all;
}

Test(kept, a_service_is_read_with_all_its_instances_or_with_one) {
        Kept *kept = kept_new();
        KeptReader all = { .service = "web" }, one = { .service = "web", .instance = 2 };

        put(kept, "web", 1, "a"), put(kept, "db", 1, "b"), put(kept, "web", 2, "c"), put(kept, "web", 1, "");
        kept_rewind(kept, &all, UINT64_MAX);
        kept_rewind(kept, &one, UINT64_MAX);
        cr_assert_eq(kept_count(kept, &all), 3);
        cr_assert_str_eq(read_all(kept, &all), "a|c||");
        cr_assert_str_eq(read_all(kept, &one), "c|");
        put(kept, "web", 2, "d"); /* who follows goes on where he was */
        cr_assert_str_eq(read_all(kept, &all), "d|");
        cr_assert_str_eq(read_all(kept, &one), "d|");
        kept_free(kept);
}

Test(kept, the_last_lines_are_counted_from_the_end) {
        Kept *kept = kept_new();
        KeptReader reader = { .service = "web" };
        put(kept, "web", 1, "a"), put(kept, "web", 1, "b"), put(kept, "web", 1, "c");
        kept_rewind(kept, &reader, 2);
        cr_assert_str_eq(read_all(kept, &reader), "b|c|");
        kept_rewind(kept, &reader, 0);
        cr_assert_str_eq(read_all(kept, &reader), "");
        kept_free(kept);
}

Test(kept, who_waits_for_the_first_line_gets_it_and_has_missed_nothing) {
        Kept *kept = kept_new();
        KeptReader reader = { .service = "web" };
        put(kept, "db", 1, "b");
        kept_rewind(kept, &reader, UINT64_MAX);
        cr_assert_str_eq(read_all(kept, &reader), "");
        put(kept, "web", 1, "a");
        cr_assert_str_eq(read_all(kept, &reader), "a|");
        cr_assert_not(reader.missed);
        kept_free(kept);
}

Test(kept, a_ring_that_goes_round_keeps_the_newest_in_order_and_tells_who_was_overtaken) {
        Kept *kept = kept_new();
        KeptReader slow = { .service = "web" }, fresh = { .service = "web" };
        KeptLine line;
        char text[200];
        unsigned first = 0, n = 0;

        put(kept, "web", 1, "0");
        kept_rewind(kept, &slow, UINT64_MAX);
        cr_assert(kept_read(kept, &slow, &line));
        for (unsigned i = 1; i < 20000; i++) {
                snprintf(text, sizeof text, "%0*u", 1 + (int)(i % 97), i);
                put(kept, "web", 1, text);
        }
        kept_rewind(kept, &fresh, UINT64_MAX);
        while (kept_read(kept, &fresh, &line)) {
                snprintf(text, sizeof text, "%.*s", (int)line.entry.length, line.entry.text);
                unsigned number = (unsigned)strtoul(text, NULL, 10);
                cr_assert(n == 0 || number == first + n, "%u after %u", number, first + n);
                first = n == 0 ? number : first;
                n++;
        }
        cr_assert_eq(first + n, 20000);
        cr_assert_gt(n, 1000);
        cr_assert_not(fresh.missed);
        cr_assert(kept_read(kept, &slow, &line));
        cr_assert(slow.missed);
        kept_free(kept);
}

Test(kept, a_text_that_is_too_long_becomes_several_and_is_all_there) {
        Kept *kept = kept_new();
        KeptReader reader = { .service = "web" };
        KeptLine line;
        char text[3 * KEPT_TEXT_MAX];
        size_t length = 0;

        memset(text, 'x', sizeof text);
        text[sizeof text - 1] = '\0';
        put(kept, "web", 1, text);
        kept_rewind(kept, &reader, UINT64_MAX);
        for (unsigned i = 0; kept_read(kept, &reader, &line); i++) {
                length += line.entry.length;
                cr_assert_eq(line.entry.continues, i > 0);
                cr_assert_eq(line.entry.goes_on, length < sizeof text - 1);
        }
        cr_assert_eq(length, sizeof text - 1);
        kept_free(kept);
}

Test(kept, of_too_many_services_the_one_that_was_silent_longest_is_forgotten) {
        Kept *kept = kept_new();
        char name[20];

        for (unsigned i = 0; i < KEPT_RINGS_MAX; i++) {
                snprintf(name, sizeof name, "s%u", i);
                put(kept, name, 1, "a");
        }
        put(kept, "s0", 1, "again");
        put(kept, "new", 1, "b");
        cr_assert_eq(kept_count(kept, &(KeptReader){ .service = "s0" }), 2);
        cr_assert_eq(kept_count(kept, &(KeptReader){ .service = "s1" }), 0);
        cr_assert_eq(kept_count(kept, &(KeptReader){ .service = "new" }), 1);
        kept_free(kept);
}
