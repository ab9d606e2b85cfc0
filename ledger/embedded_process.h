/* embedded_process.h - runs a program to its end, for what must be done before the database can run; for embedded_*.c
 * only. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

typedef struct EmbeddedRun {
        char *const *argv; /* argv[0]: a path */
        const char *input; /* what it reads; NULL: nothing */
        char *output;      /* where what it says goes, as much as fits, with a NUL; NULL: nowhere */
        size_t output_size;
        void (*tick)(void *userdata); /* every few seconds while it runs; NULL */
        void *userdata;
} EmbeddedRun;

/* Its exit code, 128 + N when signal N ended it; or -errno when it could not be run. Its stderr is ours. */
int embedded_run(const EmbeddedRun *run);
