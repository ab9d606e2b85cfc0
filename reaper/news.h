/* news.h - a line from PID 1's control socket as what it means to the reaper.
 *
 * Knows the few events that matter here (contracts/events.md); every other one is NEWS_OTHER, and only its number
 * counts. Words that are too long or no names are not taken over: what comes from a socket is not trusted to be short.
 * Reads with jansson; keeps nothing. */
#pragma once
#include "base/names.h"
#include "base/usec.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NEWS_OWNER_MAX 37 /* a uuid as text */
#define NEWS_NOTE_MAX  160

typedef enum NewsKind {
        NEWS_OTHER,
        NEWS_SUBSCRIBED, /* `seq`: lines behind this one follow; `newest` */
        NEWS_TAKEN,      /* a report was */
        NEWS_REFUSED,    /* `note`: why */
        NEWS_EXITED,     /* `owner`; `note` says how */
        NEWS_GONE,       /* `owner`, `cause`, `certain` */
        NEWS_ASKED,      /* `service`, `instance` were asked to stop */
        NEWS_ENDING,     /* the ending began */
        NEWS_PHASE,      /* `phase` begins to end; `limit_usec` */
        _NEWS_MAX,
} NewsKind;

typedef struct News {
        NewsKind kind;
        uint64_t seq; /* 0: an answer, no event */
        uint64_t newest;
        char owner[NEWS_OWNER_MAX];
        char cause[NAME_LENGTH_MAX + 1];
        char service[NAME_LENGTH_MAX + 1]; /* of all that have one */
        char phase[NAME_LENGTH_MAX + 1];
        unsigned instance;
        pid_t pid; /* of NEWS_ASKED */
        bool certain;
        usec_t limit_usec;
        char note[NEWS_NOTE_MAX];
} News;

const char *news_kind_to_string(NewsKind kind);
int news_kind_from_string(const char *text);

/* 0; -EBADMSG: no JSON, or neither an event nor an answer; -ENOMEM. `line` without its newline. */
int news_read(const char *line, size_t length, News *ret);
