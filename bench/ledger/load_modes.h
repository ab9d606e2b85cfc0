/* load_modes.h - the statements of each mode of the load program, as data. */
#pragma once
#include <stdbool.h>

/* One letter a parameter: w our worker; n how many jobs a statement takes; l id of the job claimed last, or NULL; i g c
 * id, gen and claim of the job in hand; I G C the same of all jobs in hand, as arrays; J payloads. */
typedef struct Statement {
        const char *sql, *parameters;
} Statement;

typedef enum Work {
        WORK_DRAIN,   /* claim, finish, until a claim brings nothing */
        WORK_NEXT,    /* the claim finishes what the one before it brought */
        WORK_BEAT,    /* claim once, then finish (that is, beat) the same jobs again and again */
        WORK_ENQUEUE, /* claim (that is, enqueue) only */
} Work;

typedef struct Mode {
        const char *name;
        Work work;
        Statement claim, finish;
        bool cursor; /* the next claim begins behind the last job of this one */
} Mode;

/* NULL: no such mode. */
const Mode *mode_find(const char *name);
