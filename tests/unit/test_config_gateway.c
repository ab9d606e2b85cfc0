/* test_config_gateway.c - [Gateway] out of whole files. */
#include "supervisor/config_gateway.h"
#include "tests/support/config_file.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static ConfigFile file;

static void set_up(void) {
        config_file_open(&file);
}

static void tear_down(void) {
        config_file_close(&file);
}

TestSuite(config_gateway, .init = set_up, .fini = tear_down);

#define SERVICES                                                                                                       \
        "[Service web]\nExecStart=/bin/true\n[Service api]\nExecStart=/bin/true\n[Service once]\nType=oneshot\n"       \
        "ExecStart=/bin/true\n[Service held]\nExecStart=/bin/true\nListen=tcp://127.0.0.1:9999\n"

static const GatewayConfig *must_load(const char *lines) {
        char text[1024];
        snprintf(text, sizeof text, SERVICES "%s", lines);
        config_file_load(&file, text);
        cr_assert_eq(file.answer, 0, "%s: said %s", lines, file.printed);
        return &file.config->gateway;
}

Test(config_gateway, without_the_section_there_is_none) {
        cr_assert_null(must_load("")->listen);
}

Test(config_gateway, an_empty_section_is_one_on_loopback_with_the_page) {
        const GatewayConfig *gateway = must_load("[Gateway]\n");
        cr_assert_str_eq(gateway->listen, "127.0.0.1:9180");
        cr_assert(gateway->dashboard);
        cr_assert_null(gateway->ready_when);
        cr_assert_not_null(gateway->rights);
}

Test(config_gateway, the_page_is_shown_to_strangers_only_when_that_is_said) {
        cr_expect_not(must_load("[Gateway]\nListen=tcp://0.0.0.0:9180\n")->dashboard);
        cr_expect_not(must_load("[Gateway]\nListen=tcp://10.0.0.1:9180\n")->dashboard);
        cr_expect_not(must_load("[Gateway]\nListen=tcp://[::]:9180\n")->dashboard);
        cr_expect(must_load("[Gateway]\nListen=tcp://[::1]:9180\n")->dashboard);
        cr_expect(must_load("[Gateway]\nListen=tcp://0.0.0.0:9180\nDashboard=yes\n")->dashboard);
        cr_expect_not(must_load("[Gateway]\nDashboard=no\n")->dashboard);
}

Test(config_gateway, none_is_none_and_all_is_all) {
        cr_expect_null(must_load("[Gateway]\nListen=none\n")->listen);
        cr_expect_null(must_load("[Gateway]\nReadyWhen=all\n")->ready_when);
        cr_expect_str_eq(must_load("[Gateway]\nReadyWhen=web api\n")->ready_when, "web,api");
}

Test(config_gateway, what_is_wrong_is_said_at_its_line) {
        static const struct {
                const char *lines, *says;
        } rows[] = {
                { "[Gateway]\nListen=9180\n", "conf.ini:12: Listen" },
                { "[Gateway]\nListen=unix:/run/x.sock\n", "must be one tcp://ADDR:PORT, or none" },
                { "[Gateway]\nListen=tcp://127.0.0.1:1 tcp://127.0.0.1:2\n", "must be one tcp://ADDR:PORT, or none" },
                { "[Gateway]\nListen=tcp://some.name:80\n", "conf.ini:12: Listen" },
                { "[Gateway]\nListen=tcp://127.0.0.1:9999\n", "held for held already" },
                { "[Gateway]\nListen=tcp://0.0.0.0:9999\n", "held for held already" },
                { "[Gateway]\nDashboard=perhaps\n", "conf.ini:12: Dashboard" },
                { "[Gateway]\nReadyWhen=wep\n", "did you mean web?" },
                { "[Gateway]\nReadyWhen=once\n", "once is a oneshot" },
                { "[Gateway]\nPort=80\n", "conf.ini:12: " },
                { "[Gateway]\nListen=none\nListen=none\n", "conf.ini:13: " },
                { "[Gateway x]\n", "takes no name" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                char text[1024];
                snprintf(text, sizeof text, SERVICES "%s", rows[i].lines);
                config_file_load(&file, text);
                cr_expect_eq(file.answer, -EBADMSG, "%s: said %s", rows[i].lines, file.printed);
                cr_expect_not_null(strstr(file.printed, rows[i].says), "%s: said %s", rows[i].lines, file.printed);
        }
}
