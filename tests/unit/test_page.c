/* test_page.c - what comes from outside is text in the page; tests/browser looks at the rest. */
#include "gateway/page.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(const char *text) {
        char *written = NULL;
        size_t length;
        FILE *out = open_memstream(&written, &length);
        page_write_text(text, strlen(text), out);
        fclose(out);
        return written;
}

Test(page, nothing_in_a_text_can_be_a_tag_an_attribute_or_an_entity) {
        char *text = text_of("<script>alert(\"1\")</script>&lt;'é\xff");
        cr_expect_str_eq(text, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;lt;&#39;é?");
        free(text);
}

Test(page, it_shows_each_process_and_never_markup_of_theirs) {
        SnapshotMember members[2] = { { .number = 1, .state = "ready", .ready = true, .restarts = 3 },
                                      { .number = 2, .state = "starting", .note = "<img src=x>" } };
        SnapshotService service = { .name = "web", .phase = "http", .members = members, .n_members = 2, .n_ready = 1 };
        Snapshot snapshot = { .services = &service, .n_services = 1 };
        Tally tally = { 0 };
        Picture picture = { .n_phases = 1, .phases = { { .name = "http" } } };
        Known known = { .picture = &picture, .tally = &tally, .status = &snapshot, .connected = true };
        Recent *recent = NULL;
        char *page = NULL;
        size_t length;

        cr_assert_eq(recent_new(&recent), 0);
        FILE *out = open_memstream(&page, &length);
        page_write(&(PageView){ .known = &known, .recent = recent, .nonce = "0123" }, out);
        fclose(out);
        cr_expect_not_null(strstr(page, "web@1"));
        cr_expect_not_null(strstr(page, "web@2"));
        cr_expect_not_null(strstr(page, "&lt;img src=x&gt;"));
        cr_expect_null(strstr(page, "<img"));
        free(page);
        recent_free(recent);
}
