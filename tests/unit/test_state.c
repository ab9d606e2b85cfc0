/* test_state.c - items of a world's state: added, sorted, found. */
#include "verify/state.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void add(State *state, const char *key) {
        Item item = { .key = strdup(key), .attributes = strdup(""), .lines = calloc(1, sizeof(char *)), .n_lines = 1 };

        item.lines[0] = strdup(key);
        cr_assert_eq(state_add(state, &item), 0);
        cr_expect_null(item.key, "its parts are the state's");
}

Test(state, what_was_added_in_any_order_is_sorted_bytewise_and_found) {
        State state = { 0 };

        add(&state, "/b");
        add(&state, "/a/b");
        add(&state, "/a-b");
        state_sort(&state);
        cr_expect_str_eq(state.items[0].key, "/a-b");
        cr_expect_str_eq(state.items[1].key, "/a/b");
        cr_expect_str_eq(state_find(&state, "/b")->lines[0], "/b");
        cr_expect_null(state_find(&state, "/c"));
        state_done(&state);
        cr_expect_eq(state.n_items, 0);
        cr_expect_null(state_find(&state, "/b"), "an empty state has nothing");
}

Test(state, every_kind_has_a_word) {
        for (int kind = 0; kind < _ITEM_KIND_MAX; kind++)
                cr_expect_eq(item_kind_from_string(item_kind_to_string((ItemKind)kind)), kind);
}
