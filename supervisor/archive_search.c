/* archive_search.c - finds a line by its number in a journal file. */
#include "supervisor/archive_file.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEAR 8192 /* two lines of the greatest length: in so much there is always the beginning of a whole one */

/* Inside a JSON string a quote is escaped, so this text can only be the key itself, wherever it stands in the line. */
uint64_t archive_line_seq(const char *line, size_t length) {
        static const char key[] = "\"seq\":";
        const char *end = line + length, *at = memmem(line, length, key, sizeof key - 1);
        uint64_t seq = 0;

        if (!at)
                return 0;
        for (at += sizeof key - 1; at < end && *at >= '0' && *at <= '9'; at++)
                seq = seq * 10 + (uint64_t)(*at - '0');
        return seq;
}

/* The first whole line that begins after `place`: its number, and where it begins. 0 when there is none near. */
static uint64_t line_after(int fd, uint64_t place, uint64_t *ret_begin) {
        char buffer[NEAR];
        ssize_t n = pread(fd, buffer, sizeof buffer, (off_t)place);
        char *newline = n > 0 ? memchr(buffer, '\n', (size_t)n) : NULL;

        if (!newline)
                return 0;
        char *begin = newline + 1;
        char *end = memchr(begin, '\n', (size_t)(buffer + n - begin));
        if (!end)
                return 0;
        *ret_begin = place + (uint64_t)(begin - buffer);
        return archive_line_seq(begin, (size_t)(end - begin));
}

uint64_t archive_file_find(int fd, uint64_t seq) {
        struct stat st;
        uint64_t low = 0, begin = 0;

        if (fstat(fd, &st) < 0)
                return 0;
        for (uint64_t high = (uint64_t)st.st_size; high > low && high - low > NEAR;) {
                uint64_t middle = low + (high - low) / 2;
                uint64_t found = line_after(fd, middle, &begin);

                if (found > 0 && found < seq && begin < high)
                        low = begin;
                else
                        high = middle;
        }
        return low;
}
