/* test_notify_words.c - datagrams of services, good and hostile. */
#include "base/notify_words.h"
#include "base/take.h"
#include <criterion/criterion.h>

static NotifyWords parse(const char *text) {
        NotifyWords words;
        notify_words_parse(text, strlen(text), &words);
        return words;
}

Test(notify_words, the_words_of_the_protocol_are_read) {
        NotifyWords words =
                parse("READY=1\nRELOADING=1\nSTOPPING=1\nBARRIER=1\nFDSTORE=1\nFDNAME=web.sock\nSTATUS=all is well\n"
                      "ERRNO=2\nMAINPID=4711\nWATCHDOG=1\nWATCHDOG_USEC=20000000\nEXTEND_TIMEOUT_USEC=500000\n"
                      "EXIT_STATUS=143\n");
        cr_assert(words.ready && words.reloading && words.stopping && words.barrier && words.fdstore && words.watchdog);
        cr_assert_not(words.watchdog_trigger);
        cr_assert_str_eq(words.fd_name, "web.sock");
        cr_assert(words.has_status);
        cr_assert_str_eq(words.status, "all is well");
        cr_assert(words.has_errno && words.error_number == 2);
        cr_assert_eq(words.main_pid, 4711);
        cr_assert_eq(words.watchdog_usec, 20000000);
        cr_assert_eq(words.extend_timeout_usec, 500000);
        cr_assert(words.has_exit_status && words.exit_status == 143);
        cr_assert_eq(words.bad + words.unknown, 0);
}

Test(notify_words, our_own_words_are_read) {
        NotifyWords words =
                parse("X_ENDWELL_DRAINED=1\nX_ENDWELL_ACTIVE=17\nX_ENDWELL_HOOK=flush-cache\nX_ENDWELL_EDGE=end\n"
                      "X_ENDWELL_RC=-3");
        cr_assert(words.drained);
        cr_assert(words.has_active && words.active == 17);
        cr_assert_str_eq(words.hook, "flush-cache");
        cr_assert_eq(words.hook_edge, NOTIFY_EDGE_END);
        cr_assert(words.has_rc && words.rc == -3);
        cr_assert_eq(parse("X_ENDWELL_EDGE=begin").hook_edge, NOTIFY_EDGE_BEGIN);
        cr_assert_eq(words.bad + words.unknown, 0);
}

Test(notify_words, a_stored_descriptor_is_watched_unless_that_is_refused) {
        cr_assert(parse("FDSTORE=1\nFDNAME=x\nFDPOLL=0").fd_unwatched);
        cr_assert_not(parse("FDSTORE=1\nFDNAME=x\nFDPOLL=1").fd_unwatched);
        cr_assert_eq(parse("FDSTORE=1\nFDPOLL=1").bad, 0);
        cr_assert_not(parse("FDSTORE=1").fd_unwatched);
}

Test(notify_words, to_forget_a_descriptor_is_not_to_store_one) {
        NotifyWords words = parse("FDSTOREREMOVE=1\nFDNAME=x");
        cr_assert(words.fdstore_remove && !words.fdstore);
        cr_assert_str_eq(words.fd_name, "x");
        cr_assert_not(parse("FDSTORE=1").fdstore_remove);
}

Test(notify_words, a_triggered_watchdog_is_not_a_ping) {
        NotifyWords words = parse("WATCHDOG=trigger");
        cr_assert(words.watchdog_trigger && !words.watchdog);
}

Test(notify_words, nothing_is_said_by_an_empty_message) {
        static const NotifyWords nothing;
        NotifyWords words = parse("");
        cr_assert_eq(memcmp(&words, &nothing, sizeof nothing), 0);
        words = parse("\n\n");
        cr_assert_eq(memcmp(&words, &nothing, sizeof nothing), 0);
}

Test(notify_words, a_bad_value_is_counted_and_says_nothing) {
        static const char *const cases[] = {
                "READY=0",
                "READY=",
                "READY=1 ",
                "READY=11",
                "STOPPING=yes",
                "MAINPID=0",
                "MAINPID=-1",
                "MAINPID=2147483648",
                "MAINPID=12a",
                "MAINPID= 12",
                "ERRNO=4096",
                "ERRNO=-1",
                "WATCHDOG=2",
                "WATCHDOG_USEC=0",
                "WATCHDOG_USEC=18446744073709551616",
                "EXTEND_TIMEOUT_USEC=",
                "EXTEND_TIMEOUT_USEC=1s",
                "EXIT_STATUS=256",
                "FDSTORE=0",
                "FDSTOREREMOVE=yes",
                "FDPOLL=2",
                "FDPOLL=",
                "FDNAME=",
                "FDNAME=a:b",
                "FDNAME=a\tb",
                "X_ENDWELL_ACTIVE=4294967296",
                "X_ENDWELL_ACTIVE=-1",
                "X_ENDWELL_HOOK=",
                "X_ENDWELL_HOOK=a b",
                "X_ENDWELL_HOOK=01234567890123456789012345678901234567890",
                "X_ENDWELL_EDGE=middle",
                "X_ENDWELL_RC=",
                "X_ENDWELL_RC=-",
                "X_ENDWELL_RC=--1",
                "X_ENDWELL_RC=2147483648",
        };
        static const NotifyWords bad = { .bad = 1 };

        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                NotifyWords words = parse(cases[i]);
                cr_expect_eq(memcmp(&words, &bad, sizeof bad), 0, "%s", cases[i]);
        }
}

Test(notify_words, what_is_not_known_is_counted_apart) {
        NotifyWords words = parse("BUSERROR=x\nready=1\nREADY\n=1\n READY=1\nX_OTHER=1\nREADY=2\nREADY=1");
        cr_assert_eq(words.unknown, 6);
        cr_assert_eq(words.bad, 1);
        cr_assert(words.ready, "the good line counts in spite of the others");
}

Test(notify_words, a_status_is_cleaned_and_cut_at_a_whole_character) {
        static const char dirty[] = "STATUS=a\0b\xFF\x1B";
        NotifyWords words;
        notify_words_parse(dirty, sizeof dirty - 1, &words);
        cr_assert_str_eq(words.status, "a?b??");

        char text[7 + 600] = "STATUS=";
        for (size_t i = 0; i < 200; i++)
                memcpy(text + 7 + 3 * i, "\xE2\x82\xAC", 3);
        for (size_t shift = 0; shift < 3; shift++) {
                memmove(text + 7 + shift, text + 7, 600 - shift);
                memset(text + 7, 'x', shift);
                notify_words_parse(text, sizeof text, &words);
                size_t length = strlen(words.status);
                cr_assert(length < NOTIFY_TEXT_MAX && length > NOTIFY_TEXT_MAX - 4);
                cr_assert_null(strchr(words.status, '?'));
        }
}

Test(notify_words, a_nul_ends_no_name_early) {
        static const char text[] = "X_ENDWELL_HOOK=a\0b\nREADY=1\0\nREADY\0=1";
        NotifyWords words;
        notify_words_parse(text, sizeof text - 1, &words);
        cr_assert_str_empty(words.hook);
        cr_assert_not(words.ready);
        cr_assert_eq(words.bad, 2);
        cr_assert_eq(words.unknown, 1);
}

Test(notify_words, only_the_given_bytes_are_read) {
        char *exact = malloc(7); /* under the sanitizer a byte too many is seen */
        NotifyWords words;

        memcpy(exact, "READY=1", 7);
        notify_words_parse(exact, 7, &words);
        cr_assert(words.ready);
        notify_words_parse(exact, 6, &words);
        cr_assert(!words.ready && words.bad == 1);
        free(exact);
}

Test(notify_words, the_last_of_two_counts) {
        cr_assert_str_eq(parse("STATUS=one\nSTATUS=two").status, "two");
        cr_assert_eq(parse("MAINPID=1\nMAINPID=2\nMAINPID=x").main_pid, 2);
}
