/* test_json.c - what the writer wrote, judged by jansson: well-formed in a buffer of any size. */
#include <criterion/criterion.h>

#include "base/json.h"
#include <jansson.h>

static json_t *parse(const char *text) {
        json_error_t error;
        json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &error);
        cr_assert_not_null(value, "%s: %s", error.text, text);
        return value;
}

static size_t write_everything(char *buffer, size_t size, bool *ret_overflowed) {
        Json json;
        json_init(&json, buffer, size);
        json_open_object(&json, NULL);
        json_put_unsigned(&json, "seq", 4711);
        json_put_string(&json, "name", "web \"1\"\n\x01\xFF \xE2\x82\xAC");
        json_put_string(&json, "nothing", NULL);
        json_open_array(&json, "list");
        for (int i = -3; i < 3; i++) {
                json_open_object(&json, NULL);
                json_put_signed(&json, "n", i);
                json_put_bool(&json, "negative", i < 0);
                json_open_array(&json, "empty");
                json_close(&json);
                json_close(&json);
        }
        json_close(&json);
        json_put_stringn(&json, "bytes", "a\0b", 3);
        json_put_null(&json, "end");
        json_close(&json);
        *ret_overflowed = json_overflowed(&json);
        return json_finish(&json);
}

Test(json, all_kinds_of_values_are_written) {
        char buffer[1024];
        bool overflowed;

        size_t length = write_everything(buffer, sizeof buffer, &overflowed);
        cr_assert_not(overflowed);
        cr_assert_eq(length, strlen(buffer));
        cr_assert_str_eq(buffer, "{\"seq\":4711,\"name\":\"web \\\"1\\\"\\n\\u0001\xEF\xBF\xBD "
                                 "\xE2\x82\xAC\",\"nothing\":null,\"list\":["
                                 "{\"n\":-3,\"negative\":true,\"empty\":[]},{\"n\":-2,\"negative\":true,\"empty\":[]},"
                                 "{\"n\":-1,\"negative\":true,\"empty\":[]},{\"n\":0,\"negative\":false,\"empty\":[]},"
                                 "{\"n\":1,\"negative\":false,\"empty\":[]},{\"n\":2,\"negative\":false,\"empty\":[]}],"
                                 "\"bytes\":\"a\\u0000b\",\"end\":null}");
        json_decref(parse(buffer));
}

Test(json, in_a_buffer_of_any_size_it_is_one_whole_value) {
        char whole[1024];
        bool overflowed;
        size_t needed = write_everything(whole, sizeof whole, &overflowed);

        for (size_t size = 64; size <= 400; size++) {
                char *buffer = malloc(size); /* of the exact size, so that a byte too many is seen */
                size_t length = write_everything(buffer, size, &overflowed);
                cr_assert_lt(length, size);
                cr_assert_eq(buffer[length], '\0');
                cr_assert_eq(overflowed, size <= needed, "size %zu", size);
                json_t *value = parse(buffer);
                cr_assert_eq(json_integer_value(json_object_get(value, "seq")), 4711);
                json_decref(value);
                free(buffer);
        }
}

Test(json, a_token_that_does_not_fit_is_left_out_whole_and_ends_the_text) {
        char buffer[64], huge[100];
        Json json;

        memset(huge, 'x', sizeof huge - 1);
        huge[sizeof huge - 1] = '\0';
        json_init(&json, buffer, sizeof buffer);
        json_open_object(&json, NULL);
        json_put_bool(&json, "kept", true);
        json_put_string(&json, "huge", huge);
        cr_assert(json_overflowed(&json));
        json_put_bool(&json, "late", true);
        json_finish(&json);
        cr_assert_str_eq(buffer, "{\"kept\":true}");
}

Test(json, a_value_too_large_for_the_top_becomes_null) {
        char buffer[64], huge[100];
        Json json;

        memset(huge, 'x', sizeof huge - 1);
        huge[sizeof huge - 1] = '\0';
        json_init(&json, buffer, sizeof buffer);
        json_put_string(&json, NULL, huge);
        json_finish(&json);
        cr_assert_str_eq(buffer, "null");
}

Test(json, nesting_too_deep_is_an_overflow_and_still_closed) {
        char buffer[256];
        Json json;

        json_init(&json, buffer, sizeof buffer);
        for (int i = 0; i < JSON_DEPTH_MAX + 5; i++)
                json_open_array(&json, NULL);
        cr_assert(json_overflowed(&json));
        json_finish(&json);
        cr_assert_str_eq(buffer, "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]");
}

Test(json, mistakes_of_the_caller_cannot_break_the_text) {
        char buffer[128];
        Json json;

        json_init(&json, buffer, sizeof buffer);
        json_close(&json);
        json_open_object(&json, "key at the top");
        json_put_bool(&json, NULL, true);
        json_open_array(&json, "a");
        json_put_bool(&json, "key in an array", true);
        json_close(&json);
        json_close(&json);
        json_close(&json);
        json_put_bool(&json, NULL, true);
        json_finish(&json);
        cr_assert_str_eq(buffer, "{\"\":true,\"a\":[true]}");
}

Test(json, the_largest_numbers_are_exact) {
        char buffer[128];
        Json json;

        json_init(&json, buffer, sizeof buffer);
        json_open_array(&json, NULL);
        json_put_unsigned(&json, NULL, UINT64_MAX);
        json_put_signed(&json, NULL, INT64_MIN);
        json_finish(&json);
        cr_assert_str_eq(buffer, "[18446744073709551615,-9223372036854775808]");
}

Test(json, each_byte_there_is_can_stand_in_a_string) {
        char buffer[4096], bytes[256];
        Json json;

        for (unsigned i = 0; i < 256; i++)
                bytes[i] = (char)i;
        json_init(&json, buffer, sizeof buffer);
        json_put_stringn(&json, NULL, bytes, sizeof bytes);
        json_finish(&json);
        json_t *value = parse(buffer);
        cr_assert_eq(json_string_length(value), 128 + 128 * 3);
        cr_assert_eq(memcmp(json_string_value(value), bytes, 128), 0);
        json_decref(value);
}
