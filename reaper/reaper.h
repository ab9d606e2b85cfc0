/* reaper.h - carries out the agenda: hears of deaths from PID 1, returns or buries the jobs of the dead, sweeps,
 * prunes, and settles when it is asked to end.
 *
 * Ends its event loop by itself, with the exit code. Without a control socket it only sweeps and prunes. */
#pragma once
#include "ledger/database.h"
#include "reaper/orders.h"
#include <systemd/sd-event.h>

#define REAPER_EXIT_UNAVAILABLE 69 /* --once and the database did not do it; or no endwell where one was to be */

#define REAPER_SETTLE_SEC 3 /* at most; less where the phase is shorter */

typedef struct Reaper Reaper;

/* `orders` and `database` must outlive it. */
int reaper_new(Reaper **ret, sd_event *event, const Orders *orders, const Database *database);
Reaper *reaper_free(Reaper *reaper);

/* Asked to end, or PID 1 is gone: settles and ends the loop, in a bounded time. */
void reaper_settle(Reaper *reaper);
