/* test_owner.c - the name of a run is a uuid of version 4, and its text and its bytes say the same. */
#include "supervisor/owner.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT "01234567-89ab-4def-8123-456789abcdef"

Test(owner, is_a_version_4_uuid_of_the_random_bits_in_their_order) {
        char text[OWNER_TEXT_MAX];
        Owner owner = owner_make((uint32_t[4]){ 0x01234567, 0x89abcdef, 0x01234567, 0x89abcdef });
        owner_write(&owner, text);
        cr_expect_str_eq(text, TEXT);

        owner = owner_make((uint32_t[4]){ 0, 0, 0, 0 });
        owner_write(&owner, text);
        cr_expect_str_eq(text, "00000000-0000-4000-8000-000000000000");

        owner = owner_make((uint32_t[4]){ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX });
        owner_write(&owner, text);
        cr_expect_str_eq(text, "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

Test(owner, no_run_has_no_text) {
        char text[OWNER_TEXT_MAX] = "before";
        owner_write(&(Owner){ { 0 } }, text);
        cr_expect_str_empty(text);
}

Test(owner, reads_what_it_writes) {
        srand(1);
        for (int i = 0; i < 10000; i++) {
                uint32_t random[4];
                char text[OWNER_TEXT_MAX];
                Owner read = { { 0 } };
                for (int j = 0; j < 4; j++)
                        random[j] = (uint32_t)rand() << 16 ^ (uint32_t)rand();
                Owner owner = owner_make(random);
                owner_write(&owner, text);
                cr_assert_eq(strlen(text), 36);
                cr_assert_eq(owner_read(text, &read), 0, "%s", text);
                cr_assert(owner_is(&owner, &read), "%s", text);
        }
}

Test(owner, any_other_text_is_refused_and_nothing_is_touched) {
        Owner owner = { { 7 } };
        char text[] = TEXT, shorter[] = TEXT;

        for (size_t i = 0; i < strlen(TEXT); i++) {
                for (const char *wrong = "gG/-.: "; *wrong; wrong++) {
                        text[i] = *wrong;
                        if (strcmp(text, TEXT) != 0)
                                cr_expect_eq(owner_read(text, &owner), -EBADMSG, "%s", text);
                }
                text[i] = TEXT[i];
        }
        for (size_t length = strlen(TEXT); length-- > 0;) {
                shorter[length] = '\0';
                cr_expect_eq(owner_read(shorter, &owner), -EBADMSG, "%s", shorter);
        }
        cr_expect_eq(owner_read(TEXT "0", &owner), -EBADMSG);
        cr_expect_eq(owner_read("01234567-89AB-4DEF-8123-456789ABCDEF", &owner), -EBADMSG,
                     "ours are never in capitals");
        cr_expect_eq(owner.bytes[0], 7);
}
