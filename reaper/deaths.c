/* deaths.c - the queue of the dead; see deaths.h. */
#include "reaper/deaths.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 16
#define UNSEEN     "how it ended was not seen"

struct DeathsExit {
        char owner[NEWS_OWNER_MAX];
        char note[NEWS_NOTE_MAX];
};

void deaths_init(Deaths *deaths) {
        *deaths = (Deaths){ 0 };
}

void deaths_done(Deaths *deaths) {
        free(deaths->queue.items);
        free(deaths->later.items);
        free(deaths->exits);
        deaths_init(deaths);
}

/* ---- How they exited ---- */

static DeathsExit *find_exit(Deaths *deaths, const char *owner) {
        for (size_t i = 0; i < deaths->n_exits; i++)
                if (strcmp(deaths->exits[i].owner, owner) == 0)
                        return &deaths->exits[i];
        return NULL;
}

static void forget_exit(Deaths *deaths, DeathsExit *at) {
        size_t behind = (size_t)(deaths->exits + deaths->n_exits - (at + 1));

        memmove(at, at + 1, behind * sizeof *at);
        deaths->n_exits--;
}

static bool make_room_for_exit(Deaths *deaths) {
        if (deaths->n_exits < deaths->size_exits)
                return true;
        if (deaths->n_exits == DEATHS_MAX) {
                forget_exit(deaths, deaths->exits); /* of the oldest something lives on, as it seems */
                return true;
        }
        size_t size = deaths->size_exits ? deaths->size_exits * 2 : SIZE_FIRST;
        DeathsExit *exits = realloc(deaths->exits, size * sizeof *exits);
        if (!exits)
                return false;
        deaths->exits = exits;
        deaths->size_exits = size;
        return true;
}

/* Without memory it will be said that its end was not seen. */
static void take_exit(Deaths *deaths, const News *news) {
        DeathsExit *at = find_exit(deaths, news->owner);

        if (!at && make_room_for_exit(deaths))
                at = &deaths->exits[deaths->n_exits++];
        if (!at)
                return;
        memcpy(at->owner, news->owner, sizeof at->owner);
        memcpy(at->note, news->note, sizeof at->note);
}

/* ---- Rings ---- */

static Death *place(const DeathsRing *ring, size_t i) {
        return &ring->items[(ring->first + i) % ring->size];
}

static int make_room(DeathsRing *ring) {
        if (ring->n < ring->size)
                return 0;
        size_t size = ring->size ? ring->size * 2 : SIZE_FIRST;
        Death *items = calloc(size, sizeof *items);
        if (!items)
                return -ENOMEM;
        for (size_t i = 0; i < ring->n; i++)
                items[i] = *place(ring, i);
        free(ring->items);
        *ring = (DeathsRing){ .items = items, .n = ring->n, .size = size };
        return 0;
}

/* 0, or -ENOMEM. */
static int push(DeathsRing *ring, const Death *death) {
        int r = make_room(ring);
        if (r == 0)
                *place(ring, ring->n++) = *death;
        return r;
}

static Death shift(DeathsRing *ring) {
        Death first = *place(ring, 0);
        ring->first = (ring->first + 1) % ring->size;
        ring->n--;
        return first;
}

static bool has(const DeathsRing *ring, const char *owner) {
        for (size_t i = 0; i < ring->n; i++)
                if (strcmp(place(ring, i)->owner, owner) == 0)
                        return true;
        return false;
}

/* ---- The queue ---- */

static Death death_of(const Deaths *deaths, const News *news, const DeathsExit *exited) {
        const char *why = strcmp(news->cause, "oom") == 0 ? ", out of memory" : "";
        Death death = { .instance = news->instance, .once = news->seq <= deaths->newest };

        memcpy(death.owner, news->owner, sizeof death.owner);
        memcpy(death.cause, news->cause, sizeof death.cause);
        memcpy(death.service, news->service, sizeof death.service);
        snprintf(death.note, sizeof death.note, "%s%s", exited ? exited->note : UNSEEN, why);
        return death;
}

static int take_gone(Deaths *deaths, const News *news) {
        if (!news->certain)
                return DEATHS_UNCERTAIN;
        if (has(&deaths->queue, news->owner))
                return DEATHS_NOTHING;
        if (deaths->queue.n >= DEATHS_MAX)
                return DEATHS_FULL;
        Death death = death_of(deaths, news, find_exit(deaths, news->owner));
        int r = push(&deaths->queue, &death);
        return r < 0 ? r : DEATHS_ADDED;
}

int deaths_hear(Deaths *deaths, const News *news) {
        int r = DEATHS_NOTHING;

        if (news->seq == 0 || news->seq <= deaths->heard)
                return DEATHS_NOTHING;
        deaths->heard = news->seq;
        if (news->kind == NEWS_EXITED)
                take_exit(deaths, news);
        if (deaths->behind)
                return news->kind == NEWS_GONE ? DEATHS_FULL : DEATHS_NOTHING;
        if (news->kind == NEWS_GONE)
                r = take_gone(deaths, news);
        if (r < 0 || r == DEATHS_FULL) {
                deaths->behind = true;
                return r;
        }
        deaths->since = news->seq;
        DeathsExit *exited = news->kind == NEWS_GONE ? find_exit(deaths, news->owner) : NULL;
        if (exited)
                forget_exit(deaths, exited);
        return r;
}

size_t deaths_count(const Deaths *deaths) {
        return deaths->queue.n;
}

Death *deaths_first(const Deaths *deaths) {
        return deaths->queue.n > 0 ? place(&deaths->queue, 0) : NULL;
}

void deaths_drop_first(Deaths *deaths) {
        (void)shift(&deaths->queue);
}

void deaths_turn(Deaths *deaths) {
        if (deaths->queue.n < 2)
                return;
        Death first = shift(&deaths->queue);
        (void)push(&deaths->queue, &first); /* there is the room that it left */
}

/* ---- The second look ---- */

/* When there are too many the oldest goes without: it has been looked at once. */
void deaths_finish_first(Deaths *deaths, usec_t now) {
        Death death = shift(&deaths->queue);

        if (death.once)
                return;
        if (deaths->later.n >= DEATHS_MAX)
                (void)shift(&deaths->later);
        death.once = true;
        death.failures = 0;
        death.released = death.buried = 0;
        death.again_usec = usec_add(now, DEATHS_AGAIN_USEC);
        (void)push(&deaths->later, &death);
}

void deaths_look_again(Deaths *deaths, usec_t now, bool all) {
        while (deaths->later.n > 0 && (all || place(&deaths->later, 0)->again_usec <= now)) {
                Death death = shift(&deaths->later);
                (void)push(&deaths->queue, &death);
        }
}

usec_t deaths_again_usec(const Deaths *deaths) {
        return deaths->later.n > 0 ? place(&deaths->later, 0)->again_usec : USEC_INFINITY;
}

/* ---- The journal ---- */

bool deaths_want_replay(const Deaths *deaths) {
        return deaths->behind && deaths->queue.n <= DEATHS_MAX / 2;
}

bool deaths_is_behind(const Deaths *deaths) {
        return deaths->behind || deaths->heard < deaths->newest;
}

void deaths_subscribed(Deaths *deaths, uint64_t since, uint64_t newest) {
        deaths->since = deaths->heard = since;
        deaths->newest = newest;
        deaths->behind = false;
}

uint64_t deaths_missed(const Deaths *deaths, const News *news) {
        return news->seq > deaths->heard + 1 ? news->seq - deaths->heard - 1 : 0;
}
