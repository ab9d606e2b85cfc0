/* test_metrics.c - the text that Prometheus reads; tests/process/test_gateway.py has real parsers read it. */
#include "gateway/metrics.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *written(const Known *known) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        metrics_write(known, out);
        fclose(out);
        return text;
}

Test(metrics, a_label_has_its_backslashes_quotes_and_newlines_escaped) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        metrics_write_label("a\\b\"c\nd{}", out);
        fclose(out);
        cr_assert_str_eq(text, "a\\\\b\\\"c\\nd{}");
        free(text);
}

Test(metrics, each_family_has_its_help_and_type_once_and_before_its_samples) {
        TallyRow rows[2] = { { .name = "web", .starts = 3 }, { .name = "db", .starts = 1 } };
        Tally tally = { .services = { .rows = rows, .n = 2 } };
        Picture picture = { .n_phases = 1, .phases = { { .name = "http", .finished = true, .took_usec = 1500000 } } };
        Known known = { .picture = &picture, .tally = &tally };
        char *text = written(&known), *seen = strdup("");

        cr_expect_not_null(strstr(text, "endwell_service_starts_total{service=\"web\"} 3\n"));
        cr_expect_not_null(strstr(text, "endwell_phase_duration_seconds{phase=\"http\"} 1.500000\n"));
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
                char name[128], mark[160];
                if (sscanf(line, "# TYPE %100s", name) == 1) {
                        snprintf(mark, sizeof mark, "<%s>", name);
                        cr_expect_null(strstr(seen, mark), "%s twice", name);
                        seen = realloc(seen, strlen(seen) + sizeof mark);
                        strcat(seen, mark);
                } else if (line[0] != '#') {
                        line[strcspn(line, "{ ")] = '\0';
                        snprintf(mark, sizeof mark, "<%s>", line);
                        cr_expect_not_null(strstr(seen, mark), "%s before its TYPE", line);
                }
        }
        free(text);
        free(seen);
}

Test(metrics, without_a_status_the_journal_is_told_alone) {
        Tally tally = { 0 };
        Picture picture = { .ready = true, .seq = 9 };
        Known known = { .picture = &picture, .tally = &tally };
        char *text = written(&known);
        cr_expect_not_null(strstr(text, "endwell_connected 0\n"));
        cr_expect_not_null(strstr(text, "endwell_journal_events_total 9\n"));
        cr_expect_null(strstr(text, "endwell_info"));
        free(text);
}
