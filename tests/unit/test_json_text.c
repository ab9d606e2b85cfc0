/* test_json_text.c - JSON is told from what is none, and its parts are found as they stand. */
#include "worker/json_text.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool valid(const char *text) {
        return json_text_is_valid(text, strlen(text));
}

Test(json_text, what_is_json_is_taken) {
        static const char *const good[] = {
                "1",
                "-0",
                "1.5e-7",
                "10E+2",
                "true",
                "null",
                " \t\r\n[] ",
                "{}",
                "\"\"",
                "[1,2,[3]]",
                "{\"a\":{\"b\":[]}}",
                "\"\\u0000\"",
                "{\"\":1}",
                "[ [ ] , { } ]",
                "\"\xc3\xa9\"",
                "\"\\ud83d\\ude00\"",
                "123456789012345678901234567890",
                "{\"a\":1,\"a\":2}",
                "\"\\/\"",
        };
        for (size_t i = 0; i < sizeof good / sizeof *good; i++)
                cr_expect(valid(good[i]), "%s", good[i]);
}

Test(json_text, what_is_none_is_refused) {
        static const char *const bad[] = {
                "",
                " ",
                "01",
                "1.",
                ".5",
                "+1",
                "1e",
                "tru",
                "nulll",
                "'a'",
                "\"",
                "\"a",
                "\"\\x\"",
                "\"\\u12g4\"",
                "[",
                "]",
                "[1,]",
                "[,1]",
                "[1 2]",
                "{1:2}",
                "{\"a\"}",
                "{\"a\":}",
                "{\"a\":1,}",
                "{,}",
                "{\"a\":1]",
                "[1}",
                "1 2",
                "\"\n\"",
                "\"\x01\"",
                "\"\xff\"",
                "\"\xc3\"",
                "\"\xed\xa0\x80\"",
                "\"\xc0\x80\"",
                "NaN",
                "Infinity",
                "{a:1}",
                "\"a\"b",
                "-",
                "--1",
                "[[]",
                "{\"a\":{}",
                "\xef\xbb\xbf{}",
        };
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                cr_expect_not(valid(bad[i]), "%s", bad[i]);
        cr_expect_not(json_text_is_valid("1\0", 2), "a NUL is no blank");
}

Test(json_text, the_depth_has_a_limit_and_the_stack_none) {
        static char text[2 * 100000 + 1];
        for (size_t depth = 1; depth <= 100000; depth = depth < 255 ? depth * 255 : depth + (depth < 258 ? 1 : 49871)) {
                memset(text, '[', depth);
                memset(text + depth, ']', depth);
                cr_expect_eq(json_text_is_valid(text, 2 * depth), depth <= JSON_TEXT_DEPTH + 1, "%zu", depth);
        }
}

Test(json_text, members_are_found_as_they_stand) {
        static const char text[] = " { \"a\" : [1, {\"b\":2}] ,\"id\":12, \"s\":\"x\\\"}\" } ";
        JsonMember members[4];
        cr_assert_eq(json_text_members(text, strlen(text), members, 4), 3);
        cr_expect(json_text_is(members[0].key, "a"));
        cr_expect(json_text_is(members[0].value, "[1, {\"b\":2}]"));
        cr_expect(json_text_is(members[1].value, "12"));
        cr_expect(json_text_is(members[2].value, "\"x\\\"}\""));
        cr_expect_eq(json_text_members(text, strlen(text), members, 2), -E2BIG);
        cr_expect_eq(json_text_members("[1]", 3, members, 4), -EINVAL);
        cr_expect_eq(json_text_members("{}", 2, members, 4), 0);
        cr_expect_eq(json_text_members("{\"a\":1}x", 8, members, 4), -EINVAL);
}

static void expect_string(const char *json, const char *text) {
        char got[64];
        JsonText value = { json, strlen(json) };
        cr_expect_eq(json_text_string(value, got, sizeof got), (int)strlen(text), "%s", json);
        cr_expect_str_eq(got, text, "%s", json);
}

Test(json_text, strings_are_resolved) {
        expect_string("\"\"", "");
        expect_string("\"a\\n\\t\\\\\\\"\\/b\"", "a\n\t\\\"/b");
        expect_string("\"\\u00e9\\u20ac\\ud83d\\ude00\"", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
        expect_string("\"\\u0000\\ud83dx\\ude00\"", "\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd");
        expect_string("\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                                            "A");
        char tiny[3];
        cr_expect_eq(json_text_string((JsonText){ "\"ab\"", 4 }, tiny, sizeof tiny), 2);
        cr_expect_eq(json_text_string((JsonText){ "\"abc\"", 5 }, tiny, sizeof tiny), -E2BIG);
        cr_expect_eq(json_text_string((JsonText){ "12", 2 }, tiny, sizeof tiny), -EINVAL);
}

Test(json_text, whole_numbers_are_read_to_their_limits) {
        static const struct {
                const char *text;
                int r;
                int64_t number;
        } cases[] = {
                { "0", 0, 0 },
                { "-1", 0, -1 },
                { "9223372036854775807", 0, INT64_MAX },
                { "-9223372036854775808", 0, INT64_MIN },
                { "9223372036854775808", -EINVAL, 0 },
                { "-9223372036854775809", -EINVAL, 0 },
                { "1.0", -EINVAL, 0 },
                { "1e3", -EINVAL, 0 },
                { "\"1\"", -EINVAL, 0 },
                { "-", -EINVAL, 0 },
                { "", -EINVAL, 0 },
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                int64_t number = 0;
                JsonText value = { cases[i].text, strlen(cases[i].text) };
                cr_expect_eq(json_text_integer(value, &number), cases[i].r, "%s", cases[i].text);
                cr_expect_eq(number, cases[i].number, "%s", cases[i].text);
        }
}
