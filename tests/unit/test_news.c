/* test_news.c - lines of the control socket, and what is made of bad ones. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/take.h"
#include "reaper/news.h"

#define HEAD  "\"mono_us\":1,\"time\":\"2026-11-30T20:14:00.000000Z\",\"epoch\":1,"
#define OWNER "6f1c1e52-6a5e-4c39-9a51-0a57ac3f4b11"

static News news_of(const char *line) {
        News news = { .kind = _NEWS_MAX };
        cr_assert_eq(news_read(line, strlen(line), &news), 0, "%s", line);
        return news;
}

Test(news, who_is_gone_has_an_owner_a_cause_and_certainty) {
        News news = news_of("{\"seq\":9," HEAD
                            "\"event\":\"service_gone\",\"service\":\"web\",\"instance\":2,\"owner\":\"" OWNER
                            "\",\"cause\":\"oom\",\"certain\":true,\"killed\":0,\"took_us\":0}");
        cr_assert_eq(news.kind, NEWS_GONE);
        cr_assert_eq(news.seq, 9u);
        cr_assert_str_eq(news.owner, OWNER);
        cr_assert_str_eq(news.cause, "oom");
        cr_assert_str_eq(news.service, "web");
        cr_assert_eq(news.instance, 2u);
        cr_assert(news.certain);
        news = news_of("{\"seq\":9," HEAD "\"event\":\"service_gone\",\"owner\":\"" OWNER "\",\"certain\":false}");
        cr_assert_not(news.certain);
}

static const struct Row {
        const char *says, *fields, *note;
} exits[] = {
        { "a code", "\"code\":\"exited\",\"status\":3", "exit code 3" },
        { "a signal", "\"code\":\"killed\",\"status\":11", "killed by SIGSEGV" },
        { "a core", "\"code\":\"dumped\",\"status\":6", "killed by SIGABRT, core dumped" },
        { "before exec", "\"code\":\"exited\",\"status\":1,\"error\":\"exec /x: No such file or directory\"",
          "could not be started: exec /x: No such file or directory" },
        { "an unknown word", "\"code\":\"vanished\",\"status\":1", "" },
        { "nothing", "\"code\":null,\"error\":null", "" },
};

Test(news, how_somebody_exited_becomes_a_few_words) {
        for (size_t i = 0; i < LENGTH_OF(exits); i++) {
                char line[512];
                snprintf(line, sizeof line, "{\"seq\":4,\"event\":\"service_exited\",\"owner\":\"%s\",%s}", OWNER,
                         exits[i].fields);
                News news = news_of(line);
                cr_assert_eq(news.kind, NEWS_EXITED);
                cr_assert_str_eq(news.note, exits[i].note, "%s: %s", exits[i].says, news.note);
        }
}

Test(news, a_long_reason_is_cut_between_characters) {
        char line[2048] = "{\"seq\":4,\"event\":\"service_exited\",\"owner\":\"" OWNER "\",\"error\":\"";
        for (int i = 0; i < 300; i++)
                strcat(line, "\u00e9");
        strcat(line, "\"}");
        News news = news_of(line);
        size_t length = strlen(news.note);
        cr_assert_lt(length, (size_t)NEWS_NOTE_MAX);
        cr_assert_str_eq(news.note + length - 2, "\u00e9");
}

Test(news, an_owner_that_is_no_uuid_is_not_given_to_the_database) {
        static const char *const owners[] = { "",
                                              "x",
                                              "6f1c1e52-6a5e-4c39-9a51-0a57ac3f4b1",
                                              "6f1c1e52-6a5e-4c39-9a51-0a57ac3f4b111",
                                              "6f1c1e52x6a5e-4c39-9a51-0a57ac3f4b11",
                                              "6g1c1e52-6a5e-4c39-9a51-0a57ac3f4b11" };
        for (size_t i = 0; i < LENGTH_OF(owners); i++) {
                char line[256];
                snprintf(line, sizeof line, "{\"seq\":4,\"event\":\"service_gone\",\"owner\":\"%s\",\"certain\":true}",
                         owners[i]);
                cr_assert_eq(news_of(line).kind, NEWS_OTHER, "%s", owners[i]);
        }
        cr_assert_eq(news_of("{\"seq\":4,\"event\":\"service_gone\",\"owner\":null,\"certain\":true}").kind,
                     NEWS_OTHER);
}

Test(news, the_ending_its_phases_and_our_own_turn_are_heard) {
        cr_assert_eq(news_of("{\"seq\":4,\"event\":\"ending_started\",\"cause\":\"signal\"}").kind, NEWS_ENDING);
        News news =
                news_of("{\"seq\":5,\"event\":\"phase_started\",\"phase\":\"db\",\"members\":2,\"limit_us\":4000000}");
        cr_assert_eq(news.kind, NEWS_PHASE);
        cr_assert_str_eq(news.phase, "db");
        cr_assert_eq(news.limit_usec, 4 * USEC_PER_SEC);
        news = news_of("{\"seq\":6,\"event\":\"service_asked\",\"service\":\"reaper\",\"instance\":1,\"pid\":7}");
        cr_assert_eq(news.kind, NEWS_ASKED);
        cr_assert_str_eq(news.service, "reaper");
}

Test(news, events_of_no_concern_or_of_tomorrow_have_their_number_only) {
        static const char *const events[] = { "service_started", "drain_progress", "of_tomorrow", "subscribed",
                                              "taken" };
        for (size_t i = 0; i < LENGTH_OF(events); i++) {
                char line[256];
                snprintf(line, sizeof line, "{\"seq\":44,\"event\":\"%s\",\"error\":{\"message\":\"x\"}}", events[i]);
                News news = news_of(line);
                cr_assert_eq(news.kind, NEWS_OTHER, "%s", events[i]);
                cr_assert_eq(news.seq, 44u);
        }
}

Test(news, answers_are_told_from_events) {
        News news = news_of("{\"result\":{\"subscribed\":true,\"since\":3,\"newest\":90}}");
        cr_assert_eq(news.kind, NEWS_SUBSCRIBED);
        cr_assert_eq(news.seq, 3u);
        cr_assert_eq(news.newest, 90u);
        cr_assert_eq(news_of("{\"result\":{\"taken\":true}}").kind, NEWS_TAKEN);
        news = news_of("{\"error\":{\"code\":\"bad_params\",\"message\":\"no\"}}");
        cr_assert_eq(news.kind, NEWS_REFUSED);
        cr_assert_str_eq(news.note, "no");
}

Test(news, what_is_no_line_of_ours_is_refused) {
        static const char *const lines[] = {
                "", "{", "[]", "1", "null", "{}", "{\"seq\":0}", "{\"result\":1}", "\"x\""
        };
        for (size_t i = 0; i < LENGTH_OF(lines); i++) {
                News news;
                cr_assert_eq(news_read(lines[i], strlen(lines[i]), &news), -EBADMSG, "%s", lines[i]);
        }
}

Test(news, each_kind_has_a_word) {
        for (int i = 0; i < _NEWS_MAX; i++)
                cr_assert_eq(news_kind_from_string(news_kind_to_string((NewsKind)i)), i);
}
