/* test_difference.c - which differences are litter. */
#include "verify/difference.h"
#include <criterion/criterion.h>

static char *const globs[] = { (char *)"/run/ew/*.tmp", NULL };

Test(difference, a_file_with_another_name_each_time_is_litter) {
        Differences once = { 0 }, again = { 0 };

        cr_expect(differences_are_none(&once));
        cr_expect_not(differences_are_litter(&once, &again, NULL), "nothing is no litter");
        differences_add_extra(&once, "/run/ew/state.41");
        differences_add_extra(&again, "/run/ew/state.77");
        cr_expect_not(differences_are_none(&once));
        cr_expect(differences_are_litter(&once, &again, NULL));
        differences_add_extra(&again, "/run/ew/lock");
        cr_expect(differences_are_litter(&once, &again, NULL));
        differences_add_extra(&once, "/run/ew/lock");
        cr_expect_not(differences_are_litter(&once, &again, NULL), "the same name twice is left for good");
        differences_done(&once);
        differences_done(&again);
}

Test(difference, what_a_glob_allows_is_litter_whatever_its_name_and_a_sentence_never_is) {
        Differences once = { 0 }, again = { 0 };

        differences_add_extra(&once, "/run/ew/a.tmp");
        differences_add_extra(&again, "/run/ew/a.tmp");
        cr_expect_not(differences_are_litter(&once, &again, NULL));
        cr_expect(differences_are_litter(&once, &again, globs));
        differences_say(&again, "%s became %s", "6", "7");
        cr_expect_str_eq(again.sentences[0], "6 became 7");
        cr_expect_not(differences_are_litter(&once, &again, globs));
        differences_done(&once);
        differences_done(&again);
}

Test(difference, a_list_that_lost_a_sentence_is_not_taken_for_an_empty_one) {
        const Differences lost = { .failed = true };

        cr_expect_not(differences_are_none(&lost));
        cr_expect_not(differences_are_litter(&lost, &lost, globs));
}
