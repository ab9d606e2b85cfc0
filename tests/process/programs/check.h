/* check.h - a process test: cases with sentences for names, run one after another in a process of its own.
 *
 * No Criterion here: these programs are PID 1 of a namespace, fork, and change what a process has only once. The first
 * check that fails says where and ends the program. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
        do {                                                                                                           \
                if (!(condition)) {                                                                                    \
                        fprintf(stderr, "%s:%d: not so: %s (errno: %s)\n", __FILE__, __LINE__, #condition,             \
                                strerror(errno));                                                                      \
                        _exit(1);                                                                                      \
                }                                                                                                      \
        } while (0)

#define CHECK_EQUAL(a, b)                                                                                              \
        do {                                                                                                           \
                long long check_a_ = (long long)(a), check_b_ = (long long)(b);                                        \
                if (check_a_ != check_b_) {                                                                            \
                        fprintf(stderr, "%s:%d: %s is %lld, %s is %lld\n", __FILE__, __LINE__, #a, check_a_, #b,       \
                                check_b_);                                                                             \
                        _exit(1);                                                                                      \
                }                                                                                                      \
        } while (0)

typedef struct Case {
        const char *name;
        void (*run)(void);
} Case;

#define CASE(function)                                                                                                 \
        { #function, function }

static inline int run_cases(const Case *cases, size_t n) {
        CHECK_EQUAL(getpid(), 1);
        for (size_t i = 0; i < n; i++) {
                cases[i].run();
                printf("ok %s\n", cases[i].name);
                fflush(stdout);
        }
        return 0;
}
