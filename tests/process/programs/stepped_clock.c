/* stepped_clock.c - preloaded into a program, adds seconds that a test chooses, at any moment, to its wall clock.
 *
 * $STEPPED_CLOCK names a file of eight bytes, the seconds as a native integer, which is mapped: a test writes, the
 * program's next look at the clock sees it. CLOCK_MONOTONIC and all timers of the kernel stay as they are. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *step;

__attribute__((constructor)) static void map_step(void) {
        const char *path = getenv("STEPPED_CLOCK");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd < 0)
                return;
        void *map = mmap(NULL, sizeof *step, PROT_READ, MAP_SHARED, fd, 0);
        close(fd);
        if (map != MAP_FAILED)
                step = map;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
        int r = (int)syscall(SYS_clock_gettime, clock, now);
        if (r == 0 && step && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
                now->tv_sec += *step;
        return r;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
        struct timespec fine;
        (void)zone;
        if (clock_gettime(CLOCK_REALTIME, &fine) < 0)
                return -1;
        *now = (struct timeval){ .tv_sec = fine.tv_sec, .tv_usec = fine.tv_nsec / 1000 };
        return 0;
}

time_t time(time_t *ret) {
        struct timespec fine;
        if (clock_gettime(CLOCK_REALTIME, &fine) < 0)
                return -1;
        if (ret)
                *ret = fine.tv_sec;
        return fine.tv_sec;
}
