/* arena.c - memory that is given back as a whole. */
#include "base/arena.h"
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#define PIECE_SIZE 1 /* a piece for each: then the sanitizer sees where one ends */
#else
#define PIECE_SIZE (64 * 1024)
#endif

struct ArenaPiece {
        ArenaPiece *next;
        size_t size;
        alignas(max_align_t) char memory[];
};

static int add_piece(Arena *arena, size_t size) {
        const size_t least = PIECE_SIZE; /* to the macro gcc says that no size is below 0 */

        if (size < least)
                size = least;
        ArenaPiece *piece = malloc(sizeof *piece + size);
        if (!piece)
                return -1;
        *piece = (ArenaPiece){ .next = arena->pieces, .size = size };
        arena->pieces = piece;
        arena->left = size;
        return 0;
}

void *arena_take(Arena *arena, size_t size) {
        const size_t step = alignof(max_align_t);

        if (size > SIZE_MAX / 4)
                return NULL;
        size_t room = size > 0 ? (size + step - 1) / step * step : step;
        if (arena->left < room && add_piece(arena, room) < 0)
                return NULL;
        void *taken = arena->pieces->memory + (arena->pieces->size - arena->left);
        arena->left -= room;
        return taken;
}

char *arena_strdup(Arena *arena, const char *text) {
        size_t size = strlen(text) + 1;
        char *copy = arena_take(arena, size);

        return copy ? memcpy(copy, text, size) : NULL;
}

void arena_done(Arena *arena) {
        for (ArenaPiece *piece = arena->pieces, *next; piece; piece = next) {
                next = piece->next;
                free(piece);
        }
        *arena = (Arena){ 0 };
}
