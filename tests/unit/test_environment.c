/* test_environment.c - endwell's own names win over the configuration's, and those over what was inherited. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/take.h"
#include "supervisor/environment.h"

#define LIST(...) ((char *const *)(const char *const[]){ __VA_ARGS__, NULL })
static char *const none[] = { NULL };

/* The joined words, separated by blanks. */
static const char *joined(const Environment *environment, char *const *configured, char *const *inherited) {
        static char text[65536];
        _cleanup_(freep) char **all = NULL;
        cr_assert_eq(environment_join(environment, configured, inherited, &all), 0);
        text[0] = '\0';
        for (size_t i = 0; all[i]; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", all[i]);
        return text;
}

Test(environment, what_is_added_is_a_name_and_a_value) {
        Environment environment = { 0 };
        environment_add(&environment, "ENDWELL_EPOCH", "%u", 3);
        environment_add(&environment, "EMPTY", "%s", "");
        cr_assert_str_eq(joined(&environment, NULL, none), "ENDWELL_EPOCH=3 EMPTY=");
}

Test(environment, of_one_name_the_first_to_speak_wins) {
        Environment environment = { 0 };
        environment_add(&environment, "A", "own");
        cr_assert_str_eq(joined(&environment, LIST("A=configured", "B=configured"),
                                LIST("A=inherited", "B=inherited", "C=inherited")),
                         "A=own B=configured C=inherited");
}

Test(environment, a_name_is_not_its_own_beginning) {
        Environment environment = { 0 };
        environment_add(&environment, "NAME", "own");
        cr_assert_str_eq(joined(&environment, LIST("NAMES=1", "NAM=2"), LIST("NAME_=3", "N=4", "NAME=5")),
                         "NAME=own NAMES=1 NAM=2 NAME_=3 N=4");
}

Test(environment, values_do_not_make_names_differ) {
        Environment environment = { 0 };
        environment_add(&environment, "A", "x=y");
        cr_assert_str_eq(joined(&environment, LIST("B=A=1"), LIST("A=z", "B==", "C=A=1")), "A=x=y B=A=1 C=A=1");
}

/* execve() takes any words, and so a parent may have given us odd ones. */
Test(environment, an_inherited_word_without_a_value_is_a_name) {
        Environment environment = { 0 };
        environment_add(&environment, "ODD", "1");
        cr_assert_str_eq(joined(&environment, NULL, LIST("ODD", "EVEN", "", "=", "=x")), "ODD=1 EVEN  = =x");
}

Test(environment, nothing_at_all_is_a_list_with_an_end) {
        Environment environment = { 0 };
        _cleanup_(freep) char **all = NULL;
        cr_assert_eq(environment_join(&environment, NULL, NULL, &all), 0);
        cr_assert_null(all[0]);
}

Test(environment, a_value_that_does_not_fit_is_left_out_whole_and_the_next_one_is_not) {
        static char endless[2 * ENVIRONMENT_TEXT_MAX];
        Environment environment = { 0 };
        memset(endless, 'x', sizeof endless - 1);
        environment_add(&environment, "BEFORE", "1");
        environment_add(&environment, "ENDLESS", "%s", endless);
        environment_add(&environment, endless, "1");
        environment_add(&environment, "AFTER", "2");
        cr_assert_str_eq(joined(&environment, NULL, NULL), "BEFORE=1 AFTER=2");
}

Test(environment, the_last_byte_can_be_used_and_no_more) {
        static char most[ENVIRONMENT_TEXT_MAX];
        Environment environment = { 0 };
        memset(most, 'x', sizeof most - 1);
        environment_add(&environment, "A", "%s", most + 1); /* one too long: "A=", the letters, NUL */
        cr_assert_eq(environment.n, 0);
        environment_add(&environment, "A", "%s", most + 2);
        cr_assert_eq(environment.n, 1);
        cr_assert_eq(environment.used, ENVIRONMENT_TEXT_MAX);
        environment_add(&environment, "B", "%s", "");
        cr_assert_eq(environment.n, 1);
}

Test(environment, more_names_than_there_is_room_for_are_left_out) {
        Environment environment = { 0 };
        for (unsigned i = 0; i < 3 * ENVIRONMENT_OWN_MAX; i++) {
                char name[16];
                snprintf(name, sizeof name, "N%u", i);
                environment_add(&environment, name, "%u", i);
        }
        cr_assert_eq(environment.n, ENVIRONMENT_OWN_MAX);
        cr_assert_null(environment.own[ENVIRONMENT_OWN_MAX]);
        cr_assert_str_eq(environment.own[ENVIRONMENT_OWN_MAX - 1], "N23=23");
}

Test(environment, the_words_that_were_inherited_are_passed_on_and_not_copied) {
        char word[] = "HOME=/root";
        Environment environment = { 0 };
        _cleanup_(freep) char **all = NULL;
        cr_assert_eq(environment_join(&environment, NULL, LIST(word), &all), 0);
        cr_assert_eq(all[0], word);
}
