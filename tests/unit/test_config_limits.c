/* test_config_limits.c - the values of LimitCPU= to LimitRTTIME=, each unit in its spellings. */
#include "base/take.h"
#include "supervisor/config_limits.h"
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#define INFINITE RLIM_INFINITY

Test(config_limits, good_ones) {
        static const struct {
                const char *key, *text;
                rlim_t soft, hard;
        } rows[] = {
                { "LimitNOFILE", "1024:4096", 1024, 4096 },
                { "LimitNOFILE", "1024", 1024, 1024 },
                { "LimitNOFILE", "1024:infinity", 1024, INFINITE },
                { "LimitNOFILE", "infinity", INFINITE, INFINITE },
                { "LimitNPROC", "0", 0, 0 },
                { "LimitNPROC", "18446744073709551614", INFINITE - 1, INFINITE - 1 },
                { "LimitAS", "4G", UINT64_C(4) << 30, UINT64_C(4) << 30 },
                { "LimitAS", "64K:16M", 64 << 10, 16 << 20 },
                { "LimitAS", "1B:1T", 1, UINT64_C(1) << 40 },
                { "LimitFSIZE", "15P:15E", UINT64_C(15) << 50, UINT64_C(15) << 60 },
                { "LimitCORE", "0:infinity", 0, INFINITE },
                { "LimitMEMLOCK", "8192", 8192, 8192 },
                { "LimitCPU", "30", 30, 30 },
                { "LimitCPU", "1min:1h 30min", 60, 5400 },
                { "LimitCPU", "1.5s", 2, 2 },
                { "LimitCPU", "1ms", 1, 1 },
                { "LimitCPU", "1us", 1, 1 },
                { "LimitRTTIME", "200000", 200000, 200000 },
                { "LimitRTTIME", "200ms:1s", 200000, 1000000 },
                { "LimitNICE", "25", 25, 25 },
                { "LimitNICE", "0:40", 0, 40 },
                { "LimitNICE", "-5", 25, 25 },
                { "LimitNICE", "-20", 40, 40 },
                { "LimitNICE", "+19:-20", 1, 40 },
                { "LimitNICE", "+0", 20, 20 },
                { "LimitRTPRIO", "99", 99, 99 },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                struct rlimit limit = { 7, 7 };
                Problem problem = { "" };
                cr_expect_eq(limit_parse(limit_kind_of_key(rows[i].key), rows[i].text, &limit, &problem), 0,
                             "%s=%s: %s", rows[i].key, rows[i].text, problem.text);
                cr_expect(limit.rlim_cur == rows[i].soft && limit.rlim_max == rows[i].hard, "%s=%s: %llu:%llu",
                          rows[i].key, rows[i].text, (unsigned long long)limit.rlim_cur,
                          (unsigned long long)limit.rlim_max);
        }
}

Test(config_limits, bad_ones_are_told_what_would_be_right) {
        static const char *const rows[][3] = {
                { "LimitNOFILE", "", "is no number" },
                { "LimitNOFILE", "many", "many is no number (or infinity)" },
                { "LimitNOFILE", "-1", "is no number" },
                { "LimitNOFILE", "+1", "is no number" },
                { "LimitNOFILE", "1K", "is no number" },
                { "LimitNOFILE", "1024:", "is no number" },
                { "LimitNOFILE", ":1024", "is no number" },
                { "LimitNOFILE", "1:2:3", "is no number" },
                { "LimitNOFILE", "1 : 2", "is no number" },
                { "LimitNOFILE", "4096:1024", "which stands first, is above" },
                { "LimitNOFILE", "infinity:1024", "which stands first, is above" },
                { "LimitNOFILE", "unlimited", "or infinity" },
                { "LimitNOFILE", "18446744073709551615", "is no number" },
                { "LimitNOFILE", "99999999999999999999999999", "is no number" },
                { "LimitNOFILE", "1111111111111111111111111111111111111111111111111111111111111111111", "too long" },
                { "LimitAS", "4Q", "is no size (write 64K, 16M, 1G or infinity)" },
                { "LimitAS", "4 G", "is no size" },
                { "LimitAS", "1.5G", "is no size" },
                { "LimitAS", "4GB", "is no size" },
                { "LimitAS", "K", "is no size" },
                { "LimitAS", "16E", "is no size" },
                { "LimitAS", "0:111111111111111111111111111111111111111111111111111111111111111111111K", "is no size" },
                { "LimitCPU", "soon", "is no span of time" },
                { "LimitCPU", "1 parsec", "is no span of time" },
                { "LimitRTTIME", "-1", "is microseconds" },
                { "LimitNICE", "41", "nice level with its sign (-20 to +19) nor a number from 0 to 40" },
                { "LimitNICE", "-21", "nice level" },
                { "LimitNICE", "+20", "nice level" },
                { "LimitNICE", "-", "nice level" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                struct rlimit limit = { 7, 7 };
                Problem problem = { "" };
                cr_expect_eq(limit_parse(limit_kind_of_key(rows[i][0]), rows[i][1], &limit, &problem), -EINVAL,
                             "%s=%s was taken", rows[i][0], rows[i][1]);
                cr_expect_not_null(strstr(problem.text, rows[i][2]), "%s=%s: %s", rows[i][0], rows[i][1], problem.text);
                cr_expect(limit.rlim_cur == 7 && limit.rlim_max == 7);
        }
}

Test(config_limits, each_resource_of_the_kernel_has_one_key) {
        for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
                const LimitKind *kind = limit_kind_of_resource(resource);
                cr_assert_not_null(kind, "%d", resource);
                cr_expect_eq(limit_kind_of_key(kind->key), kind);
        }
        cr_expect_null(limit_kind_of_key("LimitEVERYTHING"));
        cr_expect_null(limit_kind_of_resource(RLIM_NLIMITS));
}

Test(config_limits, limits_as_text) {
        char text[LIMIT_TEXT_MAX];
        cr_expect_str_eq(limit_format(0, text), "0");
        cr_expect_str_eq(limit_format(RLIM_INFINITY - 1, text), "18446744073709551614");
        cr_expect_str_eq(limit_format(RLIM_INFINITY, text), "infinity");
}
