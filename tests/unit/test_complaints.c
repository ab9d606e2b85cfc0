/* test_complaints.c - every error is kept, in the order of the files, and printed so that none can forge another. */
#include "base/complaints.h"
#include "base/take.h"
#include <criterion/criterion.h>

static char *printed(const Complaints *complaints) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        complaints_print(complaints, out);
        fclose(out);
        return text;
}

static Complaints *new_complaints(void) {
        Complaints *complaints = NULL;
        cr_assert_eq(complaints_new(&complaints), 0);
        return complaints;
}

Test(complaints, they_are_sorted_by_file_as_read_and_then_by_line) {
        _cleanup_(complaints_freep) Complaints *complaints = new_complaints();
        complaints_add(complaints, "z.ini", 9, "nine");
        complaints_add(complaints, "a.ini", 1, "one");
        complaints_add(complaints, "z.ini", 3, "three, first");
        complaints_add(complaints, "z.ini", 3, "three, %s", "second");
        complaints_add(complaints, "z.ini", 0, "all of it");

        _cleanup_(freep) char *text = printed(complaints);
        cr_assert_str_eq(text, "z.ini: all of it\nz.ini:3: three, first\nz.ini:3: three, second\nz.ini:9: nine\n"
                               "a.ini:1: one\n");
        cr_assert_eq(complaints_count(complaints), 5);
}

Test(complaints, an_expected_file_keeps_its_place_without_complaints) {
        _cleanup_(complaints_freep) Complaints *complaints = new_complaints();
        complaints_expect_file(complaints, "main.ini");
        complaints_add(complaints, "late.ini", 1, "x");
        complaints_add(complaints, "main.ini", 1, "y");

        _cleanup_(freep) char *text = printed(complaints);
        cr_assert_str_eq(text, "main.ini:1: y\nlate.ini:1: x\n");
}

Test(complaints, a_warning_is_printed_and_does_not_count) {
        _cleanup_(complaints_freep) Complaints *complaints = new_complaints();
        complaints_warn(complaints, "a.ini", 2, "odd");

        _cleanup_(freep) char *text = printed(complaints);
        cr_assert_str_eq(text, "a.ini:2: warning: odd\n");
        cr_assert_eq(complaints_count(complaints), 0);
        cr_assert_eq(complaints_warning_count(complaints), 1);
}

Test(complaints, a_value_in_a_message_cannot_forge_a_line) {
        _cleanup_(complaints_freep) Complaints *complaints = new_complaints();
        complaints_add(complaints, "a.ini", 2, "bad value %s", "x\nb.ini:1: forged\x1B[2J");

        _cleanup_(freep) char *text = printed(complaints);
        cr_assert_str_eq(text, "a.ini:2: bad value x?b.ini:1: forged?[2J\n");
}

Test(complaints, after_a_thousand_the_rest_is_counted) {
        _cleanup_(complaints_freep) Complaints *complaints = new_complaints();
        const char *file, *message;
        unsigned line;
        bool is_warning;

        for (unsigned i = 0; i < 1234; i++)
                complaints_add(complaints, "a.ini", i, "wrong");
        cr_assert_eq(complaints_count(complaints), 1234);
        cr_assert(complaints_get(complaints, 999, &file, &line, &message, &is_warning));
        cr_assert_eq(line, 999);
        cr_assert_not(complaints_get(complaints, 1000, &file, &line, &message, &is_warning));
        _cleanup_(freep) char *text = printed(complaints);
        cr_assert_not_null(strstr(text, "... and 234 more\n"));
}

Test(complaints, a_long_message_is_cut_and_marked) {
        _cleanup_(complaints_freep) Complaints *complaints = new_complaints();
        char huge[5000];
        const char *file, *message;
        unsigned line;
        bool is_warning;

        memset(huge, 'x', sizeof huge - 1);
        huge[sizeof huge - 1] = '\0';
        complaints_add(complaints, "a.ini", 1, "%s", huge);
        cr_assert(complaints_get(complaints, 0, &file, &line, &message, &is_warning));
        cr_assert_eq(strlen(message), 1023);
        cr_assert_str_eq(message + 1020, "...");
}

Test(complaints, each_one_can_be_taken_apart) {
        _cleanup_(complaints_freep) Complaints *complaints = new_complaints();
        const char *file, *message;
        unsigned line;
        bool is_warning;

        complaints_warn(complaints, "b.ini", 7, "hm");
        cr_assert(complaints_get(complaints, 0, &file, &line, &message, &is_warning));
        cr_assert_str_eq(file, "b.ini");
        cr_assert_eq(line, 7);
        cr_assert_str_eq(message, "hm");
        cr_assert(is_warning);
        cr_assert_null(complaints_free(NULL));
}
