/* actor_base.c - the clock, numbers, and the end of a test program that was called wrongly. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "actor.h"

uint64_t actor_now_usec(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void actor_wait_until(uint64_t instant_usec) {
        struct timespec instant = { .tv_sec = (time_t)(instant_usec / 1000000),
                                    .tv_nsec = (long)(instant_usec % 1000000) * 1000 };
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &instant, NULL) == EINTR)
                ;
}

void actor_die(const char *what) {
        fprintf(stderr, "actor: %s: %s\n", what, strerror(errno));
        _exit(99);
}

long actor_number(const char *text) {
        char *end = NULL;
        errno = 0;
        long number = text ? strtol(text, &end, 10) : 0;
        if (!text || errno != 0 || end == text || *end != '\0')
                actor_die(text ? text : "a number is missing");
        return number;
}
