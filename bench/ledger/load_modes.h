/* load_modes.h - the statements of each mode of the load program, as data. */
#pragma once
#include <stdbool.h>

/* One letter a parameter: w our worker; n how many jobs a statement takes; p r l priority, run_at and id of the job
 * claimed last; i g c id, gen and claim of the job in hand; I G C the same of all jobs in hand, as arrays; J payloads.
 */
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
        bool cursor; /* the claim answers where the job stands in the order: columns 3 (priority) and 4 (run_at) */
} Mode;

/* NULL: no such mode. */
const Mode *mode_find(const char *name);
