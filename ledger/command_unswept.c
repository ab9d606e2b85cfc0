/* command_unswept.c - says why a job that is expired stays so: who only reads `expired` would wait for ever. */
#include "base/take.h"
#include "ledger/command.h"
#include "ledger/sql_files.h"
#include <stdio.h>

enum { AWAY, READ_ONLY };

int command_tell_unswept(const Command *command, Session *session) {
        _cleanup_(pq_rows_freep) PqRows *rows = NULL;
        char age[COMMAND_AGE_MAX];

        int code = command_ask(command, session, "asking when the ledger was swept", sql_command("unswept"), NULL, 0,
                               false, &rows);
        if (code != 0 || pq_rows_count(rows) == 0)
                return code;
        if (pq_rows_bool(rows, 0, READ_ONLY))
                puts("This server takes no writes now: what is expired is recovered by a sweep where it does.");
        else if (pq_rows_text(rows, 0, AWAY))
                printf("Nobody has swept this ledger for %s, so that nothing that is expired is recovered. `endwell "
                       "run` with a section\n[Database] starts a reaper; `endwell reaper` is one.\n",
                       command_age(pq_rows_int64(rows, 0, AWAY), age));
        return 0;
}
