/* journal_file.h - the journal on disk: whole lines, appended; at a size FILE becomes FILE.1 and a new FILE begins.
 *
 * We are its only writer. A torn last line (a crash, a full disk) is cut off when it is ours, and ended with a newline
 * when it is not, so that what follows stands on lines of its own. Writes wait for the disk. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct JournalFile {
        const char *path; /* the caller's */
        uint64_t max_size;
        int fd; /* -1: closed */
        uint64_t size, rotate_at;
} JournalFile;

void journal_file_init(JournalFile *file, const char *path, uint64_t max_size);
/* 0 (at once when it is open), -EINVAL: no regular file, or -errno. */
int journal_file_open(JournalFile *file);
void journal_file_close(JournalFile *file);
int journal_file_sync(JournalFile *file);

/* Appends whole lines. How many bytes of them are in the file now, rotated where needed: all, or fewer with the error
 * in *ret_error (-errno; 0 otherwise), and then the file is closed and ends with a whole line. */
size_t journal_file_append(JournalFile *file, const char *lines, size_t length, int *ret_error);

/* The number of the last line that was written, in FILE or else in FILE.1; 0: none. */
uint64_t journal_file_last_seq(const JournalFile *file);

/* Pure: the number in front of a line, 0 when it has none. */
uint64_t journal_line_seq(const char *line, size_t length);
