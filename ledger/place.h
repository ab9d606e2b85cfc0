/* place.h - where a database is, as one word for people, and what in a URL cannot be meant.
 *
 * Pure. A password that was put into a URL as it is cuts the URL at its own `@`, `/` or `?`, and a piece of it ends up
 * as the host, the port or the name: such a URL is refused before anybody prints it. */
#pragma once

#define PLACE_MAX 256

typedef struct Place { /* as libpq took the URL apart; NULL: not said */
        const char *user, *host, *port, *database;
} Place;

/* 0; or -EINVAL and a sentence without a word of the URL. */
int place_judge(const Place *place, char ret_problem[static PLACE_MAX]);
/* "app@db.example:5432/jobs", "app@/run/postgresql:5432/jobs". Returns `ret_text`. */
const char *place_format(const Place *place, char ret_text[static PLACE_MAX]);
/* What is wrong with a URL that libpq cannot read at all. Returns `ret_problem`. */
const char *place_explain(const char *url, char ret_problem[static PLACE_MAX]);
