/* world_database.h - copies of a template database, one a world, and what differs in them from the template.
 *
 * CREATE DATABASE … TEMPLATE of a name that the user allowed, and of no other. The copies' names begin with
 * WORLD_DATABASE_PREFIX and say which verifier made them; it holds an advisory lock for as long as it lives, so that
 * another one knows which of them nobody will drop any more. Never connects to the template itself: a template with a
 * connection cannot be copied. */
#pragma once
#include "ledger/pq_url.h"
#include "verify/state.h"

#define WORLD_DATABASE_PREFIX "endwell_world_"

typedef struct Databases Databases;

/* Connects; `url` NULL: PG*; `allowed` is NULL-terminated. 0; -EPERM: the name is not allowed; -ENOTCONN; -ENOMEM; and
 * *ret_why. */
int databases_new(Databases **ret, const char *url, const char *template, char *const *allowed, char **ret_why);
Databases *databases_free(Databases *databases);
const PqServer *databases_server(const Databases *databases);

/* A fresh copy; free() its name. 0 or -EIO and *ret_why. */
int databases_copy(Databases *databases, char **ret_name, char **ret_why);
int databases_drop(Databases *databases, const char *name, char **ret_why); /* whoever is connected is thrown out */
/* Adds what differs from the template, as it was when the first copy was made. */
int databases_observe(Databases *databases, const char *name, State *state, char **ret_why);

/* Drops the copies of verifiers that died. How many, or -errno and *ret_why. */
int databases_recover(const char *url, char **ret_why);
