/* arena.h - memory for what is read and soon forgotten: taken piece by piece, given back as a whole.
 *
 * Small allocations that come between those that stay leave holes that nobody fills again; a process that lives for
 * months should not begin with them. Nothing in an arena is freed by itself. */
#pragma once
#include <stddef.h>

typedef struct ArenaPiece ArenaPiece;

typedef struct Arena { /* all zero: empty */
        ArenaPiece *pieces;
        size_t left; /* bytes of the first piece that nobody took yet */
} Arena;

/* Aligned for any type, not cleared. NULL: out of memory. */
void *arena_take(Arena *arena, size_t size);
char *arena_strdup(Arena *arena, const char *text);
void arena_done(Arena *arena);
