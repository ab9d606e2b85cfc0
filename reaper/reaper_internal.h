/* reaper_internal.h - what reaper.c (the turns), reaper_results.c (what came of them) and reaper_hearing.c (PID 1)
 * share; for nobody else. */
#pragma once
#include "base/json.h"
#include "ledger/connection.h"
#include "reaper/agenda.h"
#include "reaper/calls.h"
#include "reaper/deaths.h"
#include "reaper/reaper.h"
#include "reaper/standing.h"
#include "reaper/wire.h"
#include <sys/types.h>

struct Reaper {
        sd_event *event;
        const Orders *orders;
        const Database *database;
        AgendaRules rules;
        Agenda agenda;
        AgendaWork work; /* under way, or AGENDA_WAIT */
        Calls calls;
        Deaths deaths;
        Standing standing;
        Connection *connection;
        Wire *wire; /* NULL: there is no endwell */
        sd_event_source *turn, *timer;
        char place[PLACE_MAX];
        pid_t parent;
        usec_t begun_usec;
        usec_t phase_end_usec; /* its limit; infinity: our phase has not begun to end */
        bool was_subscribed, asked, full_said, alone_said, asked_in_vain_said;
        int code;
        uint64_t released, buried;            /* of the dead since the ending began */
        uint64_t swept, swept_buried, pruned; /* by one full batch after the other */
};

uint32_t reaper_chance(void);
void reaper_take_turn(Reaper *reaper); /* decides anew once everything that has arrived is read */

/* ---- reaper_results.c ---- */

void reaper_on_result(void *userdata, const CallResult *result);
void reaper_report_settled(Reaper *reaper);
void reaper_say_rest(const Reaper *reaper); /* what is left to the lease, at the end */

/* ---- reaper_hearing.c ---- */

int reaper_listen(Reaper *reaper);
bool reaper_is_behind(const Reaper *reaper);
usec_t reaper_settle_limit_usec(const Reaper *reaper);
