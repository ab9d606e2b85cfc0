/* expand.h - puts ${NAME} and ${NAME:-default} into a value.
 *
 * Pure but for malloc: names are looked up through a function that the caller gives. `$$` is a dollar; a `$` before
 * anything else is an error, so that nothing is passed on half understood. The default is not expanded again. */
#pragma once
#include <stddef.h>

typedef const char *(*ExpandLookup)(void *userdata, const char *name);

/* 0; -ENOKEY: a name without a default is unset; -EINVAL: bad syntax; -ENOMEM. On the first two *ret_problem is a
 * malloc'd sentence that names it ("the variable TOKEN is not set and has no default"). */
int expand_text(const char *text, ExpandLookup lookup, void *userdata, char **ret_text, char **ret_problem);
