/* test_expand.c - variables in values, and what is refused. */
#include "base/expand.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <errno.h>

static const char *look_up(void *userdata, const char *name) {
        *(unsigned *)userdata += 1;
        if (strcmp(name, "NAME") == 0)
                return "value";
        if (strcmp(name, "EMPTY") == 0)
                return "";
        if (strcmp(name, "DOLLAR") == 0)
                return "${NAME}$";
        return NULL;
}

Test(expand, names_are_replaced_by_their_values) {
        static const struct {
                const char *text, *expected;
        } cases[] = {
                { "", "" },
                { "plain; text # {}", "plain; text # {}" },
                { "${NAME}", "value" },
                { "a${NAME}b${NAME}c", "avaluebvaluec" },
                { "${NAME:-default}", "value" },
                { "${UNSET:-default}", "default" },
                { "${UNSET:-}", "" },
                { "${EMPTY}", "" },
                { "${EMPTY:-default}", "default" },
                { "${UNSET:-${NAME}", "${NAME" },
                { "${UNSET:-a:-b c}d", "a:-b cd" },
                { "${DOLLAR}", "${NAME}$" },
                { "$$", "$" },
                { "$${NAME}", "${NAME}" },
                { "$$$$${NAME}", "$$value" },
                { "test $${#BLOB}", "test ${#BLOB}" },
                { "\xC3\xA4${NAME}", "\xC3\xA4value" },
        };
        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                _cleanup_(freep) char *text = NULL, *problem = NULL;
                unsigned asked = 0;
                cr_expect_eq(expand_text(cases[i].text, look_up, &asked, &text, &problem), 0, "%s", cases[i].text);
                cr_expect(text && strcmp(text, cases[i].expected) == 0, "%s: %s", cases[i].text, text);
                cr_expect_null(problem);
        }
}

Test(expand, what_is_unset_or_half_understood_is_an_error_that_names_it) {
        static const struct {
                const char *text;
                int error;
                const char *word;
        } cases[] = {
                { "${TOKEN}", -ENOKEY, "TOKEN" },
                { "a ${NAME} ${TOKEN_2}", -ENOKEY, "TOKEN_2" },
                { "$", -EINVAL, "$$" },
                { "$NAME", -EINVAL, "$$" },
                { "$(x)", -EINVAL, "$$" },
                { "100$ ", -EINVAL, "$$" },
                { "${", -EINVAL, "}" },
                { "${NAME", -EINVAL, "}" },
                { "${NAME:-x", -EINVAL, "}" },
                { "${}", -EINVAL, "name" },
                { "${1}", -EINVAL, "name" },
                { "${#NAME}", -EINVAL, "name" },
                { "${NAME:+x}", -EINVAL, "NAME" },
                { "${NAME-x}", -EINVAL, "NAME" },
                { "${NAME }", -EINVAL, "NAME" },
        };
        for (size_t i = 0; i < LENGTH_OF(cases); i++) {
                _cleanup_(freep) char *text = NULL, *problem = NULL;
                unsigned asked = 0;
                cr_expect_eq(expand_text(cases[i].text, look_up, &asked, &text, &problem), cases[i].error, "%s",
                             cases[i].text);
                cr_expect(problem && strstr(problem, cases[i].word), "%s: %s", cases[i].text, problem);
                cr_expect_null(text);
        }
}

Test(expand, the_sentence_is_the_one_in_the_header) {
        _cleanup_(freep) char *text = NULL, *problem = NULL;
        unsigned asked = 0;
        expand_text("${TOKEN}", look_up, &asked, &text, &problem);
        cr_assert_str_eq(problem, "the variable TOKEN is not set and has no default");
        cr_assert_eq(asked, 1);
}
