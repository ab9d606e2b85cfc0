/* test_config_listen.c - the values of Listen=: sockets, their options, and which of them clash. */
#include "base/take.h"
#include "supervisor/config_listen.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static ListenConfig *listens;
static size_t n;
static Problem problem;

static void tear_down(void) {
        listens_free(listens, n);
}

TestSuite(config_listen, .fini = tear_down);

static void must_take(const char *text) {
        listens_free(listens, n);
        listens = NULL;
        n = 0;
        problem.text[0] = '\0';
        cr_assert_eq(listen_parse(text, "web", &listens, &n, &problem), 0, "%s: %s", text, problem.text);
}

/* Each socket as BY ADDRESS NAME MODE. */
Test(config_listen, sockets_and_the_options_of_the_one_before) {
        static const char *const rows[][2] = {
                { "tcp://127.0.0.1:80", "tcp 127.0.0.1:80 web 0666;" },
                { "tcp://[0::0]:443 name=https", "tcp [::]:443 https 0666;" },
                { "unix:/run/a.sock", "unix /run/a.sock web 0666;" },
                { "unix:/run/a.sock mode=0660 name=ctl", "unix /run/a.sock ctl 0660;" },
                { "unix:/run/a.sock mode=0", "unix /run/a.sock web 0000;" },
                { "unix:\"/run/a b.sock\" mode=00777", "unix /run/a b.sock web 0777;" },
                { "tcp://0.0.0.0:80 name=http unix:/x name=u mode=600", "tcp 0.0.0.0:80 http 0666;unix /x u 0600;" },
                { "tcp://0.0.0.0:80 tcp://0.0.0.0:81", "tcp 0.0.0.0:80 web 0666;tcp 0.0.0.0:81 web 0666;" },
                { "tcp://0.0.0.0:80 name=a name=b", "tcp 0.0.0.0:80 b 0666;" },
                { "", "" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char text[300] = "";
                size_t length = 0;
                must_take(rows[i][0]);
                for (size_t j = 0; j < n; j++)
                        length += (size_t)sprintf(text + length, "%s %s %s %04o;",
                                                  listens[j].by == LISTEN_TCP ? "tcp" : "unix", listens[j].address,
                                                  listens[j].name, (unsigned)listens[j].mode);
                cr_expect_str_eq(text, rows[i][1], "%s: %s", rows[i][0], text);
        }
}

Test(config_listen, bad_ones_are_told_what_would_be_right) {
        static const char *const rows[][2] = {
                { "80", "80 is neither tcp://ADDR:PORT nor unix:PATH" },
                { "0.0.0.0:80", "neither tcp://ADDR:PORT nor unix:PATH" },
                { "udp://0.0.0.0:80", "neither tcp://ADDR:PORT nor unix:PATH" },
                { "tcp://:80", "write 0.0.0.0 or [::] for all of them" },
                { "tcp://localhost:80", "write 127.0.0.1 or [::1]" },
                { "tcp://0.0.0.0", "the port is missing" },
                { "tcp://0.0.0.0:0", "from 1 to 65535" },
                { "unix:@web", "abstract socket" },
                { "unix:web.sock", "absolute path" },
                { "unix:/run/", "does not end in /" },
                { "name=web tcp://0.0.0.0:80", "neither" },
                { "tcp://0.0.0.0:80 mode=0660", "mode= is of a unix: socket only" },
                { "unix:/x mode=0888", "no octal number" },
                { "unix:/x mode=01000", "no octal number" },
                { "unix:/x mode=", "no octal number" },
                { "unix:/x mode=-1", "no octal number" },
                { "unix:/x name=", "1 to 64 letters" },
                { "unix:/x name=a:b", "no colon" },
                { "unix:/x 'name=a b'", "no blank" },
                { "unix:/x name=\xC3\xA4", "ASCII" },
                { "unix:/x nmae=a", "nmae= is no option, did you mean name=?" },
                { "unix:/x backlog=5", "nor mode= or name=" },
                { "unix:'/x", "quote" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                ListenConfig *none = NULL;
                size_t n_none = 77;
                problem.text[0] = '\0';
                cr_expect_eq(listen_parse(rows[i][0], "web", &none, &n_none, &problem), -EINVAL, "%s was taken",
                             rows[i][0]);
                cr_expect_not_null(strstr(problem.text, rows[i][1]), "%s: %s", rows[i][0], problem.text);
                cr_expect(!none && n_none == 77);
        }
}

Test(config_listen, the_path_of_a_socket_has_at_most_107_bytes) {
        char text[200] = "unix:/";
        memset(text + 6, 'x', 106);
        must_take(text);
        text[112] = 'x';
        ListenConfig *none = NULL;
        size_t n_none = 0;
        cr_expect_eq(listen_parse(text, "web", &none, &n_none, &problem), -EINVAL);
        cr_expect_not_null(strstr(problem.text, "107 bytes"));
}

Test(config_listen, what_the_kernel_would_not_bind_twice_clashes) {
        static const struct {
                const char *both;
                bool clash;
        } rows[] = {
                { "tcp://0.0.0.0:80 tcp://0.0.0.0:80", true },
                { "tcp://0.0.0.0:80 tcp://10.0.0.1:80", true },
                { "tcp://127.0.0.1:80 tcp://0.0.0.0:80", true },
                { "tcp://[::1]:80 tcp://[0::1]:80", true },
                { "tcp://[::]:80 tcp://[::1]:80", true },
                { "unix:/x unix:/x", true },
                { "tcp://127.0.0.1:80 tcp://127.0.0.2:80", false },
                { "tcp://0.0.0.0:80 tcp://0.0.0.0:81", false },
                { "tcp://0.0.0.0:80 tcp://[::]:80", false }, /* endwell sets IPV6_V6ONLY then */
                { "unix:/x unix:/y", false },
                { "tcp://0.0.0.0:80 unix:/80", false },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                must_take(rows[i].both);
                cr_assert_eq(n, 2);
                cr_expect_eq(listens_clash(&listens[0], &listens[1]), rows[i].clash, "%s", rows[i].both);
                cr_expect_eq(listens_clash(&listens[1], &listens[0]), rows[i].clash, "%s", rows[i].both);
        }
}

Test(config_listen, sorted_all_of_one_port_stand_together_and_all_addresses_first) {
        must_take("unix:/b tcp://10.0.0.1:80 tcp://0.0.0.0:443 tcp://0.0.0.0:80 tcp://[::1]:80 unix:/a");
        static const char *const order[] = { "0.0.0.0:80", "10.0.0.1:80", "[::1]:80", "0.0.0.0:443", "/a", "/b" };
        size_t rank[6];
        for (size_t i = 0; i < 6; i++)
                for (size_t j = 0; j < 6; j++)
                        if (strcmp(listens[j].address, order[i]) == 0)
                                rank[i] = j;
        for (size_t i = 0; i < 6; i++)
                for (size_t j = 0; j < 6; j++) {
                        int answer = listens_compare(&listens[rank[i]], &listens[rank[j]]);
                        cr_expect((answer < 0) == (i < j) && (answer > 0) == (i > j), "%s %s", order[i], order[j]);
                }
        cr_expect(listens_share_port(&listens[rank[0]], &listens[rank[1]]));
        cr_expect_not(listens_share_port(&listens[rank[1]], &listens[rank[2]]), "another family");
        cr_expect(listen_port(&listens[rank[3]]) == 443 && listen_port(&listens[rank[4]]) == 0);
}
