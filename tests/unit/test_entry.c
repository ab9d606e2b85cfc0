/* test_entry.c - an entry names its writer, is never longer than a pipe takes whole, and loses nothing of its text. */
#include "logger/entry.h"
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const EntrySource web = { .service = "web", .instance = 2, .is_one_of_many = true, .pid = 7 };

static json_t *parse(const char *text, size_t length) {
        cr_assert_leq(length, ENTRY_MAX);
        cr_assert_eq(text[length - 1], '\n');
        cr_assert_null(memchr(text, '\n', length - 1));
        json_t *value = json_loadb(text, length, JSON_ALLOW_NUL, NULL);
        cr_assert(json_is_object(value), "%.*s", (int)length, text);
        return value;
}

Test(entry, json_says_whose_line_it_is) {
        Entry entry = { .source = &web, .wall = 1700000000000000, .text = "hello", .length = 5 };
        char text[ENTRY_MAX];
        size_t length;

        cr_assert_eq(entry_write_json(&entry, text, &length), 5);
        text[length] = '\0';
        cr_assert_str_eq(text, "{\"time\":\"2023-11-14T22:13:20.000000Z\",\"service\":\"web\",\"instance\":2,\"pid\":7,"
                               "\"stream\":\"stdout\",\"line\":\"hello\"}\n");
}

Test(entry, what_is_unknown_is_not_said_and_a_hook_is_named) {
        EntrySource source = { .service = "web", .hook = "flush", .instance = 1, .is_stderr = true };
        Entry entry = { .source = &source, .text = "x", .length = 1, .goes_on = true };
        char text[ENTRY_MAX];
        size_t length;

        entry_write_json(&entry, text, &length);
        json_t *value = parse(text, length);
        cr_assert_null(json_object_get(value, "pid"));
        cr_assert_str_eq(json_string_value(json_object_get(value, "hook")), "flush");
        cr_assert_str_eq(json_string_value(json_object_get(value, "stream")), "stderr");
        cr_assert(json_is_true(json_object_get(value, "partial")));
        json_decref(value);
}

/* Every byte there is, in texts of any length: each entry is a line of JSON, and together they have every character. */
Test(entry, whatever_the_bytes_are_each_entry_is_json_and_nothing_is_left_out) {
        char bytes[9000], text[ENTRY_MAX];
        for (int fill = 0; fill < 256; fill++) {
                memset(bytes, fill, sizeof bytes);
                Entry entry = { .source = &web, .text = bytes, .length = sizeof bytes };
                size_t characters = 0, length;
                while (entry.length > 0) {
                        size_t n = entry_write_json(&entry, text, &length);
                        cr_assert_gt(n, 0);
                        json_t *value = parse(text, length);
                        json_t *line = json_object_get(value, "line");
                        characters += json_string_length(line) / (fill >= 0x80 ? 3 : 1); /* U+FFFD is three bytes */
                        cr_assert_eq(json_is_true(json_object_get(value, "partial")), n < entry.length);
                        json_decref(value);
                        entry.text += n;
                        entry.length -= n;
                }
                cr_assert_eq(characters, sizeof bytes, "byte %d", fill);
        }
}

static const char *prefixed(const EntrySource *source, bool continues, bool colour, const char *line) {
        static char text[ENTRY_MAX + 1];
        size_t length;
        Entry entry = { .source = source, .text = line, .length = strlen(line), .continues = continues };
        cr_assert_eq(entry_write_prefix(&entry, colour, text, &length), strlen(line));
        text[length] = '\0';
        return text;
}

Test(entry, the_prefix_is_the_name_as_everywhere) {
        EntrySource one = { .service = "db", .instance = 1 }, hook = web;
        strcpy(hook.hook, "flush");
        cr_assert_str_eq(prefixed(&web, false, false, "a"), "web@2 | a\n");
        cr_assert_str_eq(prefixed(&web, true, false, "a"), "web@2 + a\n");
        cr_assert_str_eq(prefixed(&one, false, false, ""), "db | \n");
        cr_assert_str_eq(prefixed(&hook, false, false, "a"), "web@2 flush | a\n");
}

Test(entry, colour_is_of_the_name_alone) {
        const char *text = prefixed(&web, false, true, "a");
        cr_assert_eq(strncmp(text, "\033[", 2), 0);
        cr_assert_not_null(strstr(text, "web@2 |\033[0m a\n"));
}

Test(entry, a_long_text_goes_on_in_the_next_entry) {
        char bytes[2 * ENTRY_MAX], text[ENTRY_MAX];
        size_t length;
        memset(bytes, 'x', sizeof bytes);
        Entry entry = { .source = &web, .text = bytes, .length = sizeof bytes };
        size_t n = entry_write_prefix(&entry, false, text, &length);
        cr_assert_eq(length, ENTRY_MAX);
        cr_assert_eq(n, ENTRY_MAX - strlen("web@2 | \n"));
}
