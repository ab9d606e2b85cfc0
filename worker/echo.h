/* echo.h - passes what commands write to stderr on to our own, and never waits for who reads it.
 *
 * What does not get through at once is lost; the tail of each command is kept elsewhere. As with base/log.h: a pipe or
 * a terminal is opened anew, so that flags which others share stay as they are; a regular file is written through the
 * shared offset; on a socket it is sent. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct Echo {
        int fd; /* -1: nothing is passed on */
        bool socket;
} Echo;

Echo echo_open(void);
void echo_done(Echo *echo);
void echo_pass(const Echo *echo, const char *bytes, size_t length);
