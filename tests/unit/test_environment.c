/* test_environment.c - endwell's own names win over the configuration's, those over the user's, and all over what was
 * inherited. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/take.h"
#include "supervisor/environment.h"

#define LIST(...) ((char *const *)(const char *const[]){ __VA_ARGS__, NULL })
static char *const none[] = { NULL };

/* The joined words, separated by blanks. */
static const char *join(const EnvironmentParts *parts) {
        static char text[65536];
        _cleanup_(freep) char **all = NULL;
        cr_assert_eq(environment_join(parts, &all), 0);
        text[0] = '\0';
        for (size_t i = 0; all[i]; i++)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", all[i]);
        return text;
}

static const char *joined(const Environment *environment, char *const *configured, char *const *inherited) {
        return join(&(EnvironmentParts){ .own = environment, .configured = configured, .inherited = inherited });
}

Test(environment, what_is_added_is_a_name_and_a_value) {
        _cleanup_(environment_done) Environment environment = { 0 };
        environment_add(&environment, "ENDWELL_EPOCH", "%u", 3);
        environment_add(&environment, "EMPTY", "%s", "");
        cr_assert_str_eq(joined(&environment, NULL, none), "ENDWELL_EPOCH=3 EMPTY=");
}

Test(environment, of_one_name_the_first_to_speak_wins) {
        _cleanup_(environment_done) Environment environment = { 0 };
        environment_add(&environment, "A", "own");
        cr_assert_str_eq(joined(&environment, LIST("A=configured", "B=configured"),
                                LIST("A=inherited", "B=inherited", "C=inherited")),
                         "A=own B=configured C=inherited");
}

Test(environment, a_name_is_not_its_own_beginning) {
        _cleanup_(environment_done) Environment environment = { 0 };
        environment_add(&environment, "NAME", "own");
        cr_assert_str_eq(joined(&environment, LIST("NAMES=1", "NAM=2"), LIST("NAME_=3", "N=4", "NAME=5")),
                         "NAME=own NAMES=1 NAM=2 NAME_=3 N=4");
}

Test(environment, values_do_not_make_names_differ) {
        _cleanup_(environment_done) Environment environment = { 0 };
        environment_add(&environment, "A", "x=y");
        cr_assert_str_eq(joined(&environment, LIST("B=A=1"), LIST("A=z", "B==", "C=A=1")), "A=x=y B=A=1 C=A=1");
}

/* execve() takes any words, and so a parent may have given us odd ones. */
Test(environment, an_inherited_word_without_a_value_is_a_name) {
        _cleanup_(environment_done) Environment environment = { 0 };
        environment_add(&environment, "ODD", "1");
        cr_assert_str_eq(joined(&environment, NULL, LIST("ODD", "EVEN", "", "=", "=x")), "ODD=1 EVEN  = =x");
}

Test(environment, nothing_at_all_is_a_list_with_an_end) {
        _cleanup_(environment_done) Environment environment = { 0 };
        _cleanup_(freep) char **all = NULL;
        cr_assert_eq(environment_join(&(EnvironmentParts){ .own = &environment }, &all), 0);
        cr_assert_null(all[0]);
}

Test(environment, a_value_that_does_not_fit_is_left_out_whole_and_the_next_one_is_not) {
        static char endless[2 * ENVIRONMENT_TEXT_MAX];
        _cleanup_(environment_done) Environment environment = { 0 };
        memset(endless, 'x', sizeof endless - 1);
        environment_add(&environment, "BEFORE", "1");
        environment_add(&environment, "ENDLESS", "%s", endless);
        environment_add(&environment, endless, "1");
        environment_add(&environment, "AFTER", "2");
        cr_assert_str_eq(joined(&environment, NULL, NULL), "BEFORE=1 AFTER=2");
}

Test(environment, the_last_byte_can_be_used_and_no_more) {
        static char most[ENVIRONMENT_TEXT_MAX];
        _cleanup_(environment_done) Environment environment = { 0 };
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
        _cleanup_(environment_done) Environment environment = { 0 };
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
        _cleanup_(environment_done) Environment environment = { 0 };
        _cleanup_(freep) char **all = NULL;
        cr_assert_eq(environment_join(&(EnvironmentParts){ .own = &environment, .inherited = LIST(word) }, &all), 0);
        cr_assert_eq(all[0], word);
}

Test(environment, the_users_words_stand_between_the_configurations_and_what_was_inherited) {
        _cleanup_(environment_done) Environment own = { 0 }, user = { 0 };
        Rights rights = RIGHTS_NONE;
        rights.user = (char *)"web";
        rights.home = (char *)"/srv/web";
        rights.shell = (char *)"/bin/sh";
        environment_add(&own, "ENDWELL_SERVICE", "web");
        environment_add_user(&user, &rights);
        EnvironmentParts parts = { .own = &own,
                                   .configured = LIST("HOME=/elsewhere"),
                                   .user = &user,
                                   .inherited =
                                           LIST("HOME=/root", "USER=root", "LOGNAME=root", "SHELL=/bin/zsh", "A=1") };
        cr_assert_str_eq(join(&parts), "ENDWELL_SERVICE=web HOME=/elsewhere USER=web LOGNAME=web SHELL=/bin/sh A=1");
}

Test(environment, a_user_without_a_database_entry_leaves_what_was_inherited) {
        _cleanup_(environment_done) Environment own = { 0 }, user = { 0 };
        environment_add_user(&user, &RIGHTS_NONE);
        EnvironmentParts parts = { .own = &own, .user = &user, .inherited = LIST("HOME=/root") };
        cr_assert_str_eq(join(&parts), "HOME=/root");
}

Test(environment, only_what_is_passed_is_inherited_and_the_path) {
        _cleanup_(environment_done) Environment own = { 0 };
        Inheritance inheritance = { .passes_some = true, .pass = (char **)LIST("LANG", "MISSING", "TZ") };
        EnvironmentParts parts = { .own = &own,
                                   .configured = LIST("MINE=1"),
                                   .inherited = LIST("A=1", "LANG=C", "LANGUAGE=x", "PATH=/bin", "=odd", "TZ="),
                                   .inheritance = &inheritance };
        cr_assert_str_eq(join(&parts), "MINE=1 LANG=C PATH=/bin TZ=");
        inheritance.pass = NULL;
        cr_assert_str_eq(join(&parts), "MINE=1 PATH=/bin");
}

Test(environment, what_is_unset_is_gone_wherever_it_came_from_but_endwells_own_word) {
        _cleanup_(environment_done) Environment own = { 0 }, user = { 0 };
        Rights rights = RIGHTS_NONE;
        Inheritance inheritance = { .unset = (char **)LIST("SECRET", "USER", "FILE", "ENDWELL_OWNER", "PATH") };
        rights.user = (char *)"web";
        environment_add(&own, "ENDWELL_OWNER", "me");
        environment_add_user(&user, &rights);
        EnvironmentParts parts = { .own = &own,
                                   .configured = LIST("FILE=1", "KEPT=1"),
                                   .user = &user,
                                   .inherited = LIST("SECRET=1", "SECRETS=2", "USER=root", "PATH=/bin"),
                                   .inheritance = &inheritance };
        cr_assert_str_eq(join(&parts), "ENDWELL_OWNER=me KEPT=1 LOGNAME=web SECRETS=2");
        inheritance.passes_some = true;
        cr_assert_str_eq(join(&parts), "ENDWELL_OWNER=me KEPT=1 LOGNAME=web");
}

Test(environment, a_list_that_has_a_name_twice_gives_its_first_word) {
        _cleanup_(environment_done) Environment own = { 0 };
        cr_assert_str_eq(joined(&own, LIST("A=1", "A=2"), LIST("B=1", "A=3", "B=2")), "A=1 B=1");
}

/* Every name must be found again, however many share a beginning or a place in the table. */
Test(environment, thousands_of_words_are_each_there_once) {
        enum { N = 20000 };
        static char words[N][16];
        static char *configured[N + 1], *inherited[2 * N + 1];
        _cleanup_(freep) char **all = NULL;
        _cleanup_(freep) char *seen = calloc(N, 1);
        _cleanup_(environment_done) Environment own = { 0 };
        size_t n = 0;
        for (size_t i = 0; i < N; i++) {
                snprintf(words[i], sizeof words[i], "V%zu=%zu", i, i);
                inherited[i] = inherited[N + i] = words[i];
                if (i % 2)
                        configured[n++] = words[i];
        }
        EnvironmentParts parts = { .own = &own, .configured = configured, .inherited = inherited };
        cr_assert_eq(environment_join(&parts, &all), 0);
        for (n = 0; all[n]; n++) {
                size_t i = strtoul(all[n] + 1, NULL, 10);
                cr_assert(i < N && !seen[i], "%s", all[n]);
                seen[i] = 1;
        }
        cr_assert_eq(n, N);
}

Test(environment, the_room_for_a_pid_is_where_the_caller_is_told) {
        _cleanup_(environment_done) Environment environment = { 0 };
        environment_add(&environment, "BEFORE", "1");
        char *digits = environment_add_pid(&environment, "WATCHDOG_PID");
        environment_add(&environment, "AFTER", "2");
        snprintf(digits, sizeof CHILD_PID_ROOM, "%d", 4194304);
        cr_assert_str_eq(joined(&environment, NULL, NULL), "BEFORE=1 WATCHDOG_PID=4194304 AFTER=2");
        for (unsigned i = 0; i < ENVIRONMENT_OWN_MAX; i++)
                environment_add(&environment, "N", "1");
        cr_assert_null(environment_add_pid(&environment, "LISTEN_PID"));
}

Test(environment, a_word_of_the_callers_may_be_longer_than_all_the_others) {
        static char word[ENVIRONMENT_TEXT_MAX * 2] = "LISTEN_FDNAMES=";
        Environment own = { 0 };
        _cleanup_(freep) char **all = NULL;
        memset(word + strlen(word), 'n', sizeof word - 1 - strlen(word));
        environment_add(&own, "FIRST", "%d", 1);
        environment_put(&own, word);
        environment_add(&own, "LAST", "%d", 2);
        char *const inherited[] = { (char *)"LISTEN_FDNAMES=other", NULL };
        cr_assert_eq(environment_join(&(EnvironmentParts){ .own = &own, .inherited = inherited }, &all), 0);
        cr_assert_str_eq(all[0], "FIRST=1");
        cr_assert_eq(all[1], word);
        cr_assert_str_eq(all[2], "LAST=2");
        cr_assert_null(all[3]);
}

Test(environment, more_words_than_there_is_room_for_are_left_out) {
        Environment own = { 0 };
        for (int i = 0; i < ENVIRONMENT_OWN_MAX + 3; i++)
                environment_put(&own, "A=1");
        cr_assert_eq(own.n, ENVIRONMENT_OWN_MAX);
        cr_assert_null(own.own[own.n]);
}
