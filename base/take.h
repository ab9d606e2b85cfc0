/* take.h - ownership that the compiler ends for us.
 *
 * Owns nothing and includes nothing of ours. `_cleanup_(f)` runs f(&variable) when the variable leaves its scope;
 * TAKE() moves a value out, so that success hands it on and failure frees it. */
#pragma once
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

#define TAKE(p)                                                                                                        \
        ({                                                                                                             \
                __auto_type take_p_ = &(p);                                                                            \
                __auto_type take_v_ = *take_p_;                                                                        \
                *take_p_ = NULL;                                                                                       \
                take_v_;                                                                                               \
        })

#define TAKE_FD(fd)                                                                                                    \
        ({                                                                                                             \
                int *take_p_ = &(fd);                                                                                  \
                int take_v_ = *take_p_;                                                                                \
                *take_p_ = -1;                                                                                         \
                take_v_;                                                                                               \
        })

#define LENGTH_OF(a) (sizeof(a) / sizeof *(a))

static inline void freep(void *p) {
        free(*(void **)p);
}

/* Closes and answers -1, so that `fd = close_fd(fd)` leaves no stale number. close() frees the descriptor on Linux
 * whatever it answers (close(2)), so a failure has nothing to repair and errno is kept for the caller. */
int close_fd(int fd);

static inline void closep(int *fd) {
        close_fd(*fd);
}
