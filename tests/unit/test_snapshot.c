/* test_snapshot.c - the answer to `status` as values. */
#include "gateway/snapshot.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static Snapshot *must_read(const char *text) {
        json_t *root = json_loads(text, 0, NULL);
        Snapshot *snapshot = NULL;
        cr_assert_not_null(root);
        cr_assert_eq(snapshot_read(root, &snapshot), 0);
        json_decref(root);
        return snapshot;
}

Test(snapshot, a_member_is_ready_when_its_state_says_so_and_no_probe_says_no) {
        Snapshot *snapshot = must_read(
                "{\"version\":\"0.1.0\",\"mode\":\"production\",\"step\":\"serving\",\"ready\":true,\"uptime_us\":5,"
                "\"services\":[{\"service\":\"web\",\"phase\":\"http\",\"instances\":["
                "{\"instance\":1,\"state\":\"ready\",\"pid\":12,\"restarts\":2},"
                "{\"instance\":2,\"state\":\"ready\",\"not_ready\":\"readiness probe: HTTP 503\",\"status\":\"busy\"},"
                "{\"instance\":3,\"state\":\"starting\",\"status\":\"warming up\"}]}]}");
        const SnapshotService *web = snapshot_find(snapshot, "web", 3);
        cr_assert_not_null(web);
        cr_assert_eq(web->n_members, 3u);
        cr_assert_eq(web->n_ready, 1u);
        cr_assert_eq(web->members[0].pid, 12);
        cr_assert_eq(web->members[0].restarts, 2u);
        cr_assert_str_eq(web->members[1].note, "readiness probe: HTTP 503");
        cr_assert_str_eq(web->members[2].note, "warming up");
        cr_assert_str_eq(snapshot->mode, "production");
        cr_assert(snapshot->ready);
        cr_assert_eq(snapshot->deadline_usec, USEC_INFINITY);
        cr_assert_null(snapshot_find(snapshot, "we", 2));
        cr_assert_null(snapshot_find(snapshot, "webs", 4));
        snapshot_free(snapshot);
}

Test(snapshot, its_text_is_the_answer_in_the_same_order) {
        Snapshot *snapshot = must_read("{\"version\":\"0.1.0\",\"a\":1,\"services\":[],\"b\":null}");
        cr_assert_str_eq(snapshot->text, "{\"version\":\"0.1.0\",\"a\":1,\"services\":[],\"b\":null}");
        cr_assert_eq(snapshot->length, strlen(snapshot->text));
        snapshot_free(snapshot);
}

Test(snapshot, what_has_no_services_is_no_status) {
        json_t *root = json_loads("{\"services\":{}}", 0, NULL);
        Snapshot *snapshot = NULL;
        cr_assert_eq(snapshot_read(root, &snapshot), -EBADMSG);
        cr_assert_null(snapshot);
        json_decref(root);
}
