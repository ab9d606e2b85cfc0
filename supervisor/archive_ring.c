/* archive_ring.c - holds the newest lines of the journal in one piece of memory.
 *
 * Each line has a small head before it (its number and length), so that finding one is hopping from head to head: some
 * thousand hops at most, which is cheaper than keeping an index right. */
#include "supervisor/archive_ring.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

typedef struct LineHead {
        uint64_t seq;
        uint64_t length;
} LineHead;

static void copy_in(ArchiveRing *ring, uint64_t place, const void *bytes, size_t n) {
        size_t at = place % ring->size;
        size_t first = n < ring->size - at ? n : ring->size - at;

        memcpy(ring->memory + at, bytes, first);
        memcpy(ring->memory, (const char *)bytes + first, n - first);
}

static void copy_out(const ArchiveRing *ring, uint64_t place, void *bytes, size_t n) {
        size_t at = place % ring->size;
        size_t first = n < ring->size - at ? n : ring->size - at;

        memcpy(bytes, ring->memory + at, first);
        memcpy((char *)bytes + first, ring->memory, n - first);
}

static LineHead head_at(const ArchiveRing *ring, uint64_t place) {
        LineHead head;

        copy_out(ring, place, &head, sizeof head);
        return head;
}

int archive_ring_init(ArchiveRing *ring, size_t size) {
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
                return -errno;
        *ring = (ArchiveRing){ .memory = memory, .size = size, .oldest_seq = 1 };
        return 0;
}

int archive_ring_grow(ArchiveRing *ring, size_t size) {
        ArchiveRing larger;
        int r = archive_ring_init(&larger, size);

        if (r < 0)
                return r;
        for (uint64_t place = ring->tail; place < ring->head;) {
                size_t at = place % ring->size, n = ring->size - at;

                n = n < ring->head - place ? n : ring->head - place;
                copy_in(&larger, place, ring->memory + at, n);
                place += n;
        }
        munmap(ring->memory, ring->size);
        ring->memory = larger.memory;
        ring->size = size;
        return 0;
}

void archive_ring_done(ArchiveRing *ring) {
        if (ring->memory)
                munmap(ring->memory, ring->size); /* can fail only on a wrong address */
        *ring = (ArchiveRing){ 0 };
}

static void drop_oldest(ArchiveRing *ring) {
        ring->tail += sizeof(LineHead) + head_at(ring, ring->tail).length;
        if (ring->tail < ring->head)
                ring->oldest_seq = head_at(ring, ring->tail).seq;
}

void archive_ring_put(ArchiveRing *ring, uint64_t seq, const char *line, size_t length) {
        LineHead head = { .seq = seq, .length = length };

        if (length > ring->size - sizeof head)
                return;
        while (ring->size - (ring->head - ring->tail) < sizeof head + length)
                drop_oldest(ring);
        if (ring->tail == ring->head)
                ring->oldest_seq = seq;
        copy_in(ring, ring->head, &head, sizeof head);
        copy_in(ring, ring->head + sizeof head, line, length);
        ring->head += sizeof head + length;
        ring->newest_seq = seq;
}

uint64_t archive_ring_find(const ArchiveRing *ring, uint64_t seq) {
        uint64_t place = ring->tail;

        while (place < ring->head) {
                LineHead head = head_at(ring, place);

                if (head.seq >= seq)
                        return place;
                place += sizeof head + head.length;
        }
        return place;
}

bool archive_ring_has(const ArchiveRing *ring, uint64_t place) {
        return place >= ring->tail && place <= ring->head;
}

long archive_ring_get(const ArchiveRing *ring, uint64_t *place, char *buffer, size_t size, uint64_t *ret_seq) {
        if (*place >= ring->head)
                return 0;
        LineHead head = head_at(ring, *place);
        if (head.length > size)
                return -1;
        copy_out(ring, *place + sizeof head, buffer, head.length);
        *place += sizeof head + head.length;
        *ret_seq = head.seq;
        return (long)head.length;
}

/* Two at most: the line goes on at the beginning. */
static size_t point_at(const ArchiveRing *ring, uint64_t place, size_t length, struct iovec pieces[static 2]) {
        size_t at = place % ring->size, first = length < ring->size - at ? length : ring->size - at;

        pieces[0] = (struct iovec){ .iov_base = ring->memory + at, .iov_len = first };
        pieces[1] = (struct iovec){ .iov_base = ring->memory, .iov_len = length - first };
        return first < length ? 2 : 1;
}

size_t archive_ring_point(const ArchiveRing *ring, uint64_t *place, struct iovec *pieces, size_t n, uint64_t *ret_seq) {
        size_t n_pieces = 0;

        while (*place < ring->head && n_pieces + 2 <= n) {
                LineHead head = head_at(ring, *place);

                if (n_pieces == 0)
                        *ret_seq = head.seq;
                n_pieces += point_at(ring, *place + sizeof head, head.length, pieces + n_pieces);
                *place += sizeof head + head.length;
        }
        return n_pieces;
}
