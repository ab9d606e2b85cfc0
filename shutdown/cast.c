/* cast.c - see cast.h. */
#include "shutdown/cast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t hash(const char *service, unsigned instance) {
        uint64_t sum = UINT64_C(14695981039346656037) ^ instance;
        for (const char *at = service; *at; at++)
                sum = (sum ^ (unsigned char)*at) * UINT64_C(1099511628211);
        return (size_t)(sum ^ sum >> 32);
}

static size_t place_of(const Cast *cast, const char *service, unsigned instance) {
        size_t i = hash(service, instance) & (cast->table_size - 1);
        for (; cast->table[i]; i = (i + 1) & (cast->table_size - 1)) {
                const CastRole *role = &cast->roles[cast->table[i] - 1];
                if (role->instance == instance && strcmp(role->service, service) == 0)
                        break;
        }
        return i;
}

/* The table is never more than half full, so that a search ends. */
static int make_room(Cast *cast) {
        if (cast->n < cast->size)
                return 0;
        size_t size = cast->size ? cast->size * 2 : 16;
        CastRole *roles = reallocarray(cast->roles, size, sizeof *roles);
        if (!roles)
                return -ENOMEM;
        cast->roles = roles;
        uint32_t *table = calloc(size * 2, sizeof *table);
        if (!table)
                return -ENOMEM;
        free(cast->table);
        cast->table = table;
        cast->table_size = size * 2;
        cast->size = size;
        for (size_t i = 0; i < cast->n; i++)
                table[place_of(cast, roles[i].service, roles[i].instance)] = (uint32_t)i + 1;
        return 0;
}

size_t cast_find(const Cast *cast, const char *service, unsigned instance) {
        if (!service || cast->table_size == 0)
                return SIZE_MAX;
        uint32_t number = cast->table[place_of(cast, service, instance)];
        return number ? number - 1 : SIZE_MAX;
}

int cast_join(Cast *cast, const char *service, unsigned instance, size_t *ret) {
        size_t found = cast_find(cast, service, instance);
        if (found == SIZE_MAX) {
                int r = make_room(cast);
                if (r < 0)
                        return r;
                found = cast->n++;
                cast->roles[found] = (CastRole){ service, instance };
                cast->table[place_of(cast, service, instance)] = (uint32_t)found + 1;
        }
        *ret = found;
        return 0;
}

void cast_done(Cast *cast) {
        free(cast->roles);
        free(cast->table);
        *cast = (Cast){ 0 };
}
