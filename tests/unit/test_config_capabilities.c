/* test_config_capabilities.c - lists of capabilities, line after line, as systemd merges them. */
#include "base/take.h"
#include "supervisor/config_capabilities.h"
#include <criterion/criterion.h>
#include <linux/capability.h>
#include <string.h>

#define CHOWN CAPABILITY(CAP_CHOWN)
#define KILL  CAPABILITY(CAP_KILL)
#define BPF   CAPABILITY(CAP_BPF)

/* systemd.exec(5), the examples of CapabilityBoundingSet= among them. */
Test(config_capabilities, lines_add_up_and_a_tilde_takes_away) {
        static const struct {
                const char *lines[3];
                uint64_t set;
        } rows[] = {
                { { "CAP_KILL" }, KILL },
                { { "cap_kill  Cap_Bpf" }, KILL | BPF },
                { { "\"CAP_KILL\"" }, KILL },
                { { "~CAP_KILL" }, ~KILL },
                { { "~ CAP_KILL" }, ~KILL },
                { { "CAP_KILL CAP_BPF", "CAP_BPF CAP_CHOWN" }, KILL | BPF | CHOWN },
                { { "CAP_KILL CAP_BPF", "~CAP_BPF CAP_CHOWN" }, KILL },
                { { "~CAP_KILL", "~CAP_BPF" }, ~(KILL | BPF) },
                { { "~CAP_KILL", "CAP_KILL" }, UINT64_MAX },
                { { "" }, 0 },
                { { "CAP_KILL", "" }, 0 },
                { { "CAP_KILL", "", "CAP_BPF" }, BPF },
                { { "~" }, UINT64_MAX },
                { { "CAP_KILL", "~" }, UINT64_MAX },
                { { "", "~CAP_KILL" }, 0 },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                bool given = false;
                uint64_t set = 0;
                Problem problem = { "" };
                for (size_t j = 0; j < 3 && rows[i].lines[j]; j++)
                        cr_expect_eq(capabilities_read(rows[i].lines[j], &given, &set, &problem), 0, "%s",
                                     problem.text);
                cr_expect(given && set == rows[i].set, "row %zu: %llx", i, (unsigned long long)set);
        }
}

Test(config_capabilities, unknown_ones_are_refused_and_change_nothing) {
        static const char *const rows[][2] = {
                { "CAP_NET_BIND_SERVIC", "did you mean CAP_NET_BIND_SERVICE?" },
                { "NET_ADMIN", "NET_ADMIN is no capability, did you mean CAP_NET_ADMIN?" },
                { "CAP_NET_BIND", "did you mean CAP_NET_BIND_SERVICE?" },
                { "cap_kil", "did you mean CAP_KILL?" },
                { "CAP_NOTHING", "CAP_NOTHING is no capability (write" },
                { "CAP_KILL CAP_EVERYTHING", "CAP_EVERYTHING is no capability" },
                { "5", "5 is no capability" },
                { "~~CAP_KILL", "~CAP_KILL is no capability" },
                { "CAP_KILL,CAP_BPF", "is no capability" },
                { "CAP_KILL 'CAP_BPF", "quote" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                bool given = false;
                uint64_t set = BPF;
                Problem problem = { "" };
                cr_expect_eq(capabilities_read(rows[i][0], &given, &set, &problem), -EINVAL, "%s", rows[i][0]);
                cr_expect_not_null(strstr(problem.text, rows[i][1]), "%s: %s", rows[i][0], problem.text);
                cr_expect(!given && set == BPF);
        }
}

Test(config_capabilities, every_capability_of_the_kernels_header_has_its_name) {
        for (unsigned i = 0; i <= CAP_LAST_CAP; i++) {
                bool given = false;
                uint64_t set = 0;
                Problem problem;
                cr_assert_not_null(capability_name(i), "%u", i);
                cr_expect_eq(capabilities_read(capability_name(i), &given, &set, &problem), 0);
                cr_expect_eq(set, CAPABILITY(i), "%s", capability_name(i));
        }
        cr_expect_null(capability_name(CAP_LAST_CAP + 1));
}

Test(config_capabilities, sets_as_text_go_the_shorter_way) {
        char text[CAPABILITIES_TEXT_MAX];
        cr_expect_str_eq(capabilities_format(0, text), "none");
        cr_expect_str_eq(capabilities_format(UINT64_MAX, text), "all");
        cr_expect_str_eq(capabilities_format(KILL | BPF, text), "CAP_KILL CAP_BPF");
        cr_expect_str_eq(capabilities_format(~(KILL | BPF), text), "all but CAP_KILL CAP_BPF");
        cr_expect_lt(strlen(capabilities_format(UINT64_MAX / 3, text)), CAPABILITIES_TEXT_MAX - 1);
        cr_expect_lt(strlen(capabilities_format(UINT64_MAX >> 44, text)), CAPABILITIES_TEXT_MAX - 1);
}
