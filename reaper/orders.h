/* orders.h - reads what the reaper is told by its command line and by endwell's environment.
 *
 * An option wins over the variable. Where the database is, is not read here (ledger/database.h). Texts point into argv
 * and the environment. */
#pragma once
#include "base/log.h"
#include "base/usec.h"
#include <stdbool.h>

#define ORDERS_PROBLEM_MAX 256
#define ORDERS_BATCH_MAX   100000

typedef struct Orders {
        const char *config;                   /* -c FILE, or NULL */
        usec_t interval_usec, retention_usec; /* USEC_INFINITY: finished jobs are kept */
        unsigned batch, prune_batch;
        bool once;
        LogFormat log_format;
        LogLevel log_level;
        const char *socket;                  /* PID 1's, or NULL: there is none, only sweep */
        const char *owner, *service, *phase; /* our own, or "" */
        unsigned instance;
} Orders;

enum { ORDERS_HELP = 1 };

/* 0, ORDERS_HELP, or -EINVAL and a sentence. */
int orders_read(int argc, char **argv, Orders *ret, char ret_problem[static ORDERS_PROBLEM_MAX]);
