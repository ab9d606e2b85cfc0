/* archive_ring.h - holds the newest lines of the journal in one piece of memory; the oldest make room.
 *
 * No file, no clock. Lines are whole, numbered, and leave in the order in which they came. A place in the ring is
 * counted from the first byte ever put in, so a place that is no longer kept can be told from one that is. The memory
 * is mapped, not allocated: pages that no line has touched cost nothing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

typedef struct ArchiveRing {
        char *memory;
        size_t size;
        uint64_t head, tail; /* places: of the next line, and of the oldest line that is kept */
        uint64_t oldest_seq; /* of the line at `tail`; newest_seq + 1 when there is none */
        uint64_t newest_seq;
} ArchiveRing;

int archive_ring_init(ArchiveRing *ring, size_t size); /* -ENOMEM */
/* More room for what comes; nothing that is kept moves away, and places stay what they are. -ENOMEM. */
int archive_ring_grow(ArchiveRing *ring, size_t size);
void archive_ring_done(ArchiveRing *ring);

/* A line that is longer than the ring is not kept. Sequence numbers must grow. */
void archive_ring_put(ArchiveRing *ring, uint64_t seq, const char *line, size_t length);

/* The place of the first line whose number is at least `seq`; ring->head when there is none yet. */
uint64_t archive_ring_find(const ArchiveRing *ring, uint64_t seq);
bool archive_ring_has(const ArchiveRing *ring, uint64_t place);

/* Copies the line at *place and moves it to the next one. Its length; 0 when *place is the head; -1 when `size` is too
 * small, and then nothing changed. *place must be one that archive_ring_has(). */
long archive_ring_get(const ArchiveRing *ring, uint64_t *place, char *buffer, size_t size, uint64_t *ret_seq);

/* Points at the lines from *place on without copying them, whole lines only, as many as `n` pieces can hold, and moves
 * *place behind them. How many pieces; 0 when *place is the head. Valid until the next change. */
size_t archive_ring_point(const ArchiveRing *ring, uint64_t *place, struct iovec *pieces, size_t n, uint64_t *ret_seq);
