/* test_live_sockets.c - the kernel's table of Unix sockets. */
#include "base/take.h"
#include "verify/live_sockets.h"
#include "verify/texts.h"
#include <criterion/criterion.h>
#include <errno.h>

#define HEAD "Num       RefCount Protocol Flags    Type St Inode Path\n"

Test(live_sockets, those_that_listen_and_those_of_datagrams_are_found_once) {
        char **paths;

        cr_assert_eq(live_sockets_parse(HEAD "0000000000000000: 00000002 00000000 00010000 0001 01 11 /run/a b.sock\n"
                                             "0000000000000000: 00000003 00000000 00000000 0001 03 12 /run/connected\n"
                                             "0000000000000000: 00000002 00000000 00000000 0002 01 13 /dev/log\n"
                                             "0000000000000000: 00000002 00000000 00010000 0001 01 14 @abstract\n"
                                             "0000000000000000: 00000002 00000000 00010000 0001 01 15 relative\n"
                                             "0000000000000000: 00000003 00000000 00000000 0001 03 16\n"
                                             "0000000000000000: 00000002 00000000 00010000 0005 01    17 /run/seq\n"
                                             "0000000000000000: 00000002 00000000 00000000 0002 01 18 /dev/log\n",
                                        &paths),
                     0);
        cr_expect_str_eq(paths[0], "/run/a b.sock");
        cr_expect_str_eq(paths[1], "/dev/log");
        cr_expect_str_eq(paths[2], "/run/seq");
        cr_expect_null(paths[3]);
        texts_free(paths);
}

Test(live_sockets, an_empty_table_has_none_and_another_text_is_refused) {
        char **paths;

        cr_assert_eq(live_sockets_parse(HEAD, &paths), 0);
        cr_expect_null(paths[0]);
        texts_free(paths);
        cr_expect_eq(live_sockets_parse("nonsense\n", &paths), -EBADMSG);
}
