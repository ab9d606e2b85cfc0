/* foreman.h - the worker: gives jobs to slots, keeps their leases, reports how they ended, and ends in order.
 *
 * Ties the pure parts (slot, intake, lease, outcome) to the ledger (desk), the commands and the supervisor. */
#pragma once
#include "ledger/database.h"
#include "worker/command_line.h"
#include <systemd/sd-event.h>

typedef struct Foreman Foreman;

/* `line` and `database` are borrowed; `owner` is the worker's id, a uuid. Hears SIGTERM, SIGINT, SIGQUIT and SIGCHLD,
 * which the caller has blocked; ends the loop with an exit code. */
int foreman_new(Foreman **ret, sd_event *event, const CommandLine *line, const Database *database, const char *owner);
Foreman *foreman_free(Foreman *foreman);
