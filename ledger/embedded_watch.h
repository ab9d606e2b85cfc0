/* embedded_watch.h - says READY=1 for a postgres that was built without libsystemd; for embedded_*.c only. */
#pragma once
#include "ledger/embedded_folder.h"
#include <stdbool.h>

/* Whether this postgres says it itself. */
bool embedded_says_ready(const char *postgres);
/* Before exec: leaves a process behind that waits until the postmaster's own file says that it is ready, tells PID 1,
 * and ends; at the latest with the postmaster. 0 or -errno. */
int embedded_watch(const EmbeddedFolder *folder);
