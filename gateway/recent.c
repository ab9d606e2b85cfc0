/* recent.c - see recent.h. */
#include "gateway/recent.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 2048

struct Recent {
        RecentLine lines[LINES_MAX]; /* a ring */
        size_t first, n, bytes;
};

int recent_new(Recent **ret) {
        Recent *recent = calloc(1, sizeof *recent);
        if (!recent)
                return -ENOMEM;
        *ret = recent;
        return 0;
}

static void drop_oldest(Recent *recent) {
        RecentLine *line = &recent->lines[recent->first];
        recent->bytes -= line->length;
        free(line->text);
        recent->first = (recent->first + 1) % LINES_MAX;
        recent->n--;
}

void recent_clear(Recent *recent) {
        while (recent->n > 0)
                drop_oldest(recent);
}

Recent *recent_free(Recent *recent) {
        if (recent)
                recent_clear(recent);
        free(recent);
        return NULL;
}

int recent_add(Recent *recent, uint64_t seq, const char *text, size_t length) {
        if (length > RECENT_BYTES_MAX)
                return -EMSGSIZE;
        char *copy = malloc(length + 1);
        if (!copy)
                return -ENOMEM;
        memcpy(copy, text, length);
        while (recent->n == LINES_MAX || recent->bytes + length > RECENT_BYTES_MAX)
                drop_oldest(recent);
        recent->lines[(recent->first + recent->n) % LINES_MAX] =
                (RecentLine){ .seq = seq, .length = length, .text = copy };
        recent->n++;
        recent->bytes += length;
        return 0;
}

const RecentLine *recent_at(const Recent *recent, size_t index) {
        return &recent->lines[(recent->first + index) % LINES_MAX];
}

size_t recent_count(const Recent *recent) {
        return recent->n;
}

const RecentLine *recent_after(const Recent *recent, uint64_t seq) {
        size_t low = 0, high = recent->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (recent_at(recent, middle)->seq > seq)
                        high = middle;
                else
                        low = middle + 1;
        }
        return low < recent->n ? recent_at(recent, low) : NULL;
}
