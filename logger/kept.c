/* kept.c - rings of entries: a head of fixed size, then the text. */
#include "logger/kept.h"
#include "base/take.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

#define FROM_THE_OLDEST 0 /* the position of a reader whose service has no ring yet */

typedef struct Head {
        usec_t wall;
        uint32_t length, instance;
        int32_t pid;
        bool is_stderr, is_one_of_many, continues, goes_on;
        char hook[ENTRY_NAME_MAX];
} Head;

/* Positions count all bytes that were ever put in; each entry is at its position modulo the size. */
typedef struct Ring {
        char service[ENTRY_NAME_MAX];
        char *bytes;
        uint64_t begin, end;
        uint64_t written; /* when, in lines of all services */
} Ring;

struct Kept {
        Ring rings[KEPT_RINGS_MAX];
        unsigned n;
        uint64_t lines,
                bytes; /* ever; positions in a new ring begin at `bytes`, so that an old reader cannot mistake it */
};

Kept *kept_new(void) {
        Kept *kept = calloc(1, sizeof *kept);
        if (kept)
                kept->bytes = FROM_THE_OLDEST + 1;
        return kept;
}

Kept *kept_free(Kept *kept) {
        if (!kept)
                return NULL;
        for (unsigned i = 0; i < kept->n; i++)
                free(kept->rings[i].bytes);
        free(kept);
        return NULL;
}

/* ---- Rings ---- */

static Ring *find(const Kept *kept, const char *service) {
        for (unsigned i = 0; i < kept->n; i++)
                if (strcmp(kept->rings[i].service, service) == 0)
                        return (Ring *)&kept->rings[i];
        return NULL;
}

static Ring *longest_silent(Kept *kept) {
        Ring *found = &kept->rings[0];
        for (unsigned i = 1; i < kept->n; i++)
                if (kept->rings[i].written < found->written)
                        found = &kept->rings[i];
        return found;
}

/* NULL: no memory. */
static Ring *ring_for(Kept *kept, const char *service) {
        Ring *ring = find(kept, service);
        char *bytes;

        if (ring)
                return ring;
        if (kept->n == KEPT_RINGS_MAX) {
                ring = longest_silent(kept);
                bytes = ring->bytes;
        } else {
                bytes = malloc(KEPT_RING_SIZE);
                if (!bytes)
                        return NULL;
                ring = &kept->rings[kept->n++];
        }
        *ring = (Ring){ .bytes = bytes, .begin = kept->bytes, .end = kept->bytes };
        memcpy(ring->service, service, sizeof ring->service);
        return ring;
}

static void copy_in(Ring *ring, const void *from, size_t n) {
        size_t at = (size_t)(ring->end % KEPT_RING_SIZE), first = KEPT_RING_SIZE - at;

        if (first > n)
                first = n;
        memcpy(ring->bytes + at, from, first);
        memcpy(ring->bytes, (const char *)from + first, n - first);
        ring->end += n;
}

static void copy_out(const Ring *ring, uint64_t position, void *to, size_t n) {
        size_t at = (size_t)(position % KEPT_RING_SIZE), first = KEPT_RING_SIZE - at;

        if (first > n)
                first = n;
        memcpy(to, ring->bytes + at, first);
        memcpy((char *)to + first, ring->bytes, n - first);
}

static Head head_at(const Ring *ring, uint64_t position) {
        Head head;
        copy_out(ring, position, &head, sizeof head);
        return head;
}

static void make_room(Ring *ring, size_t n) {
        while (ring->end + n - ring->begin > KEPT_RING_SIZE)
                ring->begin += sizeof(Head) + head_at(ring, ring->begin).length;
}

/* ---- In ---- */

static void put_one(Kept *kept, Ring *ring, const Entry *entry, size_t from, size_t n) {
        const EntrySource *source = entry->source;
        Head head = { .wall = entry->wall,
                      .length = (uint32_t)n,
                      .instance = source->instance,
                      .pid = source->pid,
                      .is_stderr = source->is_stderr,
                      .is_one_of_many = source->is_one_of_many,
                      .continues = entry->continues || from > 0,
                      .goes_on = entry->goes_on || from + n < entry->length };

        memcpy(head.hook, source->hook, sizeof head.hook);
        make_room(ring, sizeof head + n);
        copy_in(ring, &head, sizeof head);
        copy_in(ring, entry->text + from, n);
        kept->bytes += sizeof head + n;
        ring->written = ++kept->lines;
}

void kept_put(Kept *kept, const Entry *entry) {
        Ring *ring = ring_for(kept, entry->source->service);
        size_t done = 0;

        if (!ring)
                return;
        do {
                size_t n = utf8_cut(entry->text + done, entry->length - done, KEPT_TEXT_MAX);
                put_one(kept, ring, entry, done, n);
                done += n;
        } while (done < entry->length);
}

/* ---- Out ---- */

static bool is_meant(const KeptReader *reader, const Head *head) {
        return reader->instance == KEPT_ALL || reader->instance == head->instance;
}

uint64_t kept_count(const Kept *kept, const KeptReader *reader) {
        const Ring *ring = find(kept, reader->service);
        uint64_t n = 0;

        for (uint64_t at = ring ? ring->begin : 0; ring && at < ring->end;) {
                Head head = head_at(ring, at);
                n += is_meant(reader, &head);
                at += sizeof head + head.length;
        }
        return n;
}

void kept_rewind(const Kept *kept, KeptReader *reader, uint64_t n) {
        const Ring *ring = find(kept, reader->service);
        uint64_t all = kept_count(kept, reader), skip = all > n ? all - n : 0;

        reader->missed = false;
        reader->position = ring ? ring->begin : FROM_THE_OLDEST;
        while (ring && skip > 0) {
                Head head = head_at(ring, reader->position);
                skip -= is_meant(reader, &head);
                reader->position += sizeof head + head.length;
        }
}

/* The reader that was overtaken goes on with the oldest line there is. */
static void catch_up(const Ring *ring, KeptReader *reader) {
        if (reader->position >= ring->begin)
                return;
        if (reader->position != FROM_THE_OLDEST)
                reader->missed = true;
        reader->position = ring->begin;
}

static void show(const Ring *ring, const KeptReader *reader, const Head *head, uint64_t at, KeptLine *ret) {
        ret->source = (EntrySource){ .instance = head->instance,
                                     .is_one_of_many = head->is_one_of_many,
                                     .pid = head->pid,
                                     .is_stderr = head->is_stderr };
        memcpy(ret->source.service, reader->service, sizeof ret->source.service);
        memcpy(ret->source.hook, head->hook, sizeof ret->source.hook);
        copy_out(ring, at, ret->text, head->length);
        ret->entry = (Entry){ .source = &ret->source,
                              .wall = head->wall,
                              .text = ret->text,
                              .length = head->length,
                              .continues = head->continues,
                              .goes_on = head->goes_on };
}

bool kept_read(const Kept *kept, KeptReader *reader, KeptLine *ret) {
        const Ring *ring = find(kept, reader->service);

        if (!ring)
                return false;
        catch_up(ring, reader);
        while (reader->position < ring->end) {
                Head head = head_at(ring, reader->position);
                uint64_t text = reader->position + sizeof head;
                reader->position = text + head.length;
                if (is_meant(reader, &head)) {
                        show(ring, reader, &head, text, ret);
                        return true;
                }
        }
        return false;
}
