/* board.h - the shared page on which measured programs write when something happened to them.
 *
 * One file on a tmpfs, mapped by every probe and by the driver (arena.py knows the same layout). All times are
 * CLOCK_MONOTONIC in nanoseconds, which is one clock for all PID namespaces. A field is written by one process at a
 * time, so plain atomic stores are enough. */
#pragma once
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct BoardPlace {
        _Atomic uint64_t started_nsec; /* the newest run reached main and hears SIGTERM */
        _Atomic uint64_t asked_nsec;   /* SIGTERM reached its handler */
        _Atomic uint64_t leaving_nsec; /* the last thing before _exit */
        _Atomic uint64_t runs;
        _Atomic uint64_t pid; /* as seen in its own PID namespace */
        uint64_t spare[3];
} BoardPlace;

typedef struct Board {
        _Atomic uint64_t orphans_wanted; /* the driver writes it: go */
        _Atomic uint64_t orphans_made;
        _Atomic uint64_t orphans_done_nsec; /* the maker has nothing more to make */
        _Atomic uint64_t checks;            /* that reached whom they were for */
        uint64_t spare[4];
        BoardPlace places[];
} Board;

static inline uint64_t board_now_nsec(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The board named by $BENCH_BOARD; NULL when there is none. */
static inline Board *board_open(void) {
        const char *path = getenv("BENCH_BOARD");
        int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
        if (fd < 0)
                return NULL;
        struct stat about;
        void *map = MAP_FAILED;
        if (fstat(fd, &about) == 0)
                map = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        return map == MAP_FAILED ? NULL : map;
}
