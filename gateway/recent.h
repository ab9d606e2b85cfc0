/* recent.h - the journal's last lines, for those who follow it: bounded, oldest out first. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define RECENT_BYTES_MAX (256 * 1024)

typedef struct RecentLine {
        uint64_t seq;
        size_t length;
        char *text; /* not terminated */
} RecentLine;

typedef struct Recent Recent;

int recent_new(Recent **ret);
Recent *recent_free(Recent *recent);
/* Numbers grow. 0; -ENOMEM: it is not kept; -EMSGSIZE. */
int recent_add(Recent *recent, uint64_t seq, const char *text, size_t length);
void recent_clear(Recent *recent); /* of another run */
/* The first line behind `seq`; NULL: there is none yet. */
const RecentLine *recent_after(const Recent *recent, uint64_t seq);
size_t recent_count(const Recent *recent);
const RecentLine *recent_at(const Recent *recent, size_t index); /* 0: the oldest */
