/* cast.h - who takes part in a run: numbers each instance of a service that its journal names.
 *
 * Pure but for the table's memory. Names are not copied: they live as long as the events do. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct CastRole {
        const char *service;
        unsigned instance;
} CastRole;

typedef struct Cast {
        CastRole *roles; /* by number, from 0, in the order of first appearance */
        size_t n, size;
        uint32_t *table; /* open addressing; number + 1, 0 is free */
        size_t table_size;
} Cast;

/* The number of this instance, a new one at its first appearance. 0 or -ENOMEM. */
int cast_join(Cast *cast, const char *service, unsigned instance, size_t *ret);
/* The number of an instance that has joined; SIZE_MAX for any other, and for no name at all. */
size_t cast_find(const Cast *cast, const char *service, unsigned instance);
void cast_done(Cast *cast);
