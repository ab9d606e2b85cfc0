/* test_texts_json.c - bytes through JSON: any but NUL. */
#include "verify/texts.h"
#include "verify/texts_json.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

Test(texts_json, every_byte_comes_back_also_through_text) {
        char all[256], *given[] = { all, (char *)"", NULL }, **back;
        for (int i = 1; i < 256; i++)
                all[i - 1] = (char)i;
        all[255] = 0;

        json_t *value = texts_to_json(given);
        char *text = json_dumps(value, JSON_COMPACT);
        json_t *read = json_loads(text, 0, NULL);
        cr_assert_not_null(read, "%s", text);
        cr_assert_eq(texts_from_json(read, &back), 0);
        cr_expect_str_eq(back[0], all);
        cr_expect_str_eq(back[1], "");
        cr_expect_null(back[2]);
        texts_free(back);
        json_decref(value);
        json_decref(read);
        free(text);
}

Test(texts_json, what_is_no_text_of_ours_is_refused) {
        static const char *const wrong[] = { "[1]", "[null]", "[\"\\u0100\"]", "[\"good\", \"\\u20ac\"]" };
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                json_t *value = json_loads(wrong[i], 0, NULL);
                char **back = NULL;
                cr_expect_eq(texts_from_json(value, &back), -EBADMSG, "%s", wrong[i]);
                cr_expect_null(back);
                json_decref(value);
        }
        char **none;
        cr_assert_eq(texts_from_json(NULL, &none), 0, "no list is an empty one");
        cr_expect_null(none[0]);
        texts_free(none);
}
