/* test_arena.c - what was taken from an arena is one's own until all of it is given back. */
#include "base/arena.h"
#include "base/take.h"
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TAKEN 3000

Test(arena, nobody_gets_what_somebody_has) {
        static struct {
                unsigned char *memory;
                size_t size;
        } taken[TAKEN];
        _cleanup_(arena_done) Arena arena = { 0 };

        srand(1);
        for (unsigned i = 0; i < TAKEN; i++) {
                taken[i].size = (size_t)rand() % (i % 100 == 0 ? 200000 : 300);
                taken[i].memory = arena_take(&arena, taken[i].size);
                cr_assert_not_null(taken[i].memory);
                cr_assert_eq((uintptr_t)taken[i].memory % _Alignof(max_align_t), 0);
                memset(taken[i].memory, (int)(i % 251), taken[i].size);
        }
        for (unsigned i = 0; i < TAKEN; i++)
                for (size_t at = 0; at < taken[i].size; at++)
                        cr_assert_eq(taken[i].memory[at], i % 251, "allocation %u, byte %zu", i, at);
}

Test(arena, copies_a_text) {
        _cleanup_(arena_done) Arena arena = { 0 };
        char text[] = "postgres", *first = arena_strdup(&arena, text), *empty = arena_strdup(&arena, "");

        text[0] = 'P';
        cr_expect_str_eq(first, "postgres");
        cr_expect_str_empty(empty);
}

Test(arena, more_than_there_can_be_is_an_answer) {
        _cleanup_(arena_done) Arena arena = { 0 };

        cr_expect_null(arena_take(&arena, SIZE_MAX));
        cr_expect_null(arena_take(&arena, SIZE_MAX / 2));
        cr_expect_not_null(arena_take(&arena, 1), "it still serves");
}

Test(arena, is_empty_again_when_it_is_done) {
        Arena arena = { 0 };

        arena_done(&arena);
        arena_take(&arena, 5);
        arena_done(&arena);
        cr_expect(!arena.pieces && arena.left == 0);
        arena_done(&arena);
}
