/* agenda.c - what the reaper does next; see agenda.h. */
#include "reaper/agenda.h"
#include "base/enumeration.h"

static const char *const work_words[_AGENDA_MAX] = {
        [AGENDA_COUNT] = "count", [AGENDA_HAND_OVER] = "hand over", [AGENDA_SWEEP] = "sweep", [AGENDA_PRUNE] = "prune",
        [AGENDA_WAIT] = "wait",   [AGENDA_REPORT] = "report",       [AGENDA_LEAVE] = "leave",
};
ENUMERATION(agenda_work, AgendaWork, work_words)

static usec_t spread(usec_t span, uint32_t random) { /* 0.9 to 1.1 of it */
        if (span == USEC_INFINITY)
                return span;
        return span - span / 10 + (usec_t)((double)(span / 5) * ((double)random / (double)UINT32_MAX));
}

Agenda agenda_begin(const AgendaRules *rules, usec_t now, uint32_t random) {
        Agenda agenda = { 0 };

        agenda.due_usec[AGENDA_SWEEP] = now;
        agenda.due_usec[AGENDA_PRUNE] = rules->once ? now : usec_add(now, spread(AGENDA_PRUNE_USEC / 10, random));
        return agenda;
}

static usec_t due_usec(const Agenda *agenda, const AgendaSight *sight, AgendaWork work) {
        switch (work) {
        case AGENDA_COUNT: return agenda->count_wanted ? 0 : USEC_INFINITY;
        case AGENDA_HAND_OVER: return sight->n_dead > 0 ? 0 : USEC_INFINITY;
        case AGENDA_SWEEP:
        case AGENDA_PRUNE: return agenda->settling ? USEC_INFINITY : agenda->due_usec[work];
        case AGENDA_WAIT:
        case AGENDA_REPORT:
        case AGENDA_LEAVE:
        case _AGENDA_MAX: break;
        }
        return USEC_INFINITY;
}

/* AGENDA_WAIT: nothing is due. */
static AgendaWork choose(Agenda *agenda, const AgendaSight *sight) {
        AgendaWork chosen = AGENDA_WAIT;

        for (unsigned i = 0; i < AGENDA_N_JOBS; i++) {
                if (due_usec(agenda, sight, (AgendaWork)i) > sight->now_usec)
                        agenda->passed_over[i] = 0;
                else if (chosen == AGENDA_WAIT || agenda->passed_over[i] >= AGENDA_PATIENCE)
                        chosen = (AgendaWork)i;
        }
        for (unsigned i = 0; i < AGENDA_N_JOBS; i++)
                if (i != chosen && due_usec(agenda, sight, (AgendaWork)i) <= sight->now_usec)
                        agenda->passed_over[i]++;
        if (chosen != AGENDA_WAIT)
                agenda->passed_over[chosen] = 0;
        return chosen;
}

static usec_t first_due_usec(const Agenda *agenda, const AgendaSight *sight) {
        usec_t first = sight->again_usec;

        for (unsigned i = 0; i < AGENDA_N_JOBS; i++)
                first = usec_min(first, due_usec(agenda, sight, (AgendaWork)i));
        return usec_max(first, agenda->rest_usec);
}

static bool once_is_over(const Agenda *agenda) {
        return agenda->failures > 0 ||
               (agenda->due_usec[AGENDA_SWEEP] == USEC_INFINITY && agenda->due_usec[AGENDA_PRUNE] == USEC_INFINITY);
}

static bool listens(const Agenda *agenda, const AgendaSight *sight) {
        if (sight->now_usec < agenda->hear_limit_usec && !sight->heard_all)
                return true;
        return sight->behind && !sight->deaf;
}

/* Until then a report is waited for. */
static usec_t last_usec(const Agenda *agenda, const AgendaSight *sight) {
        return sight->deaf ? agenda->hear_limit_usec : usec_add(agenda->settle_limit_usec, AGENDA_LAST_USEC);
}

static bool has_work(const Agenda *agenda, const AgendaSight *sight) {
        return listens(agenda, sight) || sight->n_dead > 0 || agenda->count_wanted;
}

/* AGENDA_WAIT: there is still something to do. */
static AgendaWork way_out(const AgendaRules *rules, const Agenda *agenda, const AgendaSight *sight) {
        if (!agenda->settling)
                return rules->once && once_is_over(agenda) ? AGENDA_LEAVE : AGENDA_WAIT;
        bool limit_over = sight->now_usec >= agenda->settle_limit_usec;
        if (!limit_over && has_work(agenda, sight))
                return AGENDA_WAIT;
        if (!agenda->reported)
                return AGENDA_REPORT;
        /* Who closes before PID 1 has read takes his last words with him. */
        bool last = sight->now_usec >= last_usec(agenda, sight);
        return last || sight->n_unsaid == 0 ? AGENDA_LEAVE : AGENDA_WAIT;
}

static usec_t wait_until_usec(const Agenda *agenda, const AgendaSight *sight) {
        bool over = agenda->settling && sight->now_usec >= agenda->settle_limit_usec;
        usec_t until = sight->database_ready && !over ? first_due_usec(agenda, sight) : USEC_INFINITY;

        if (!agenda->settling)
                return until;
        if (!sight->heard_all && sight->now_usec < agenda->hear_limit_usec)
                until = usec_min(until, agenda->hear_limit_usec);
        if (agenda->reported && (over || !has_work(agenda, sight)))
                return usec_min(until, last_usec(agenda, sight));
        return usec_min(until, agenda->settle_limit_usec);
}

AgendaStep agenda_next(const AgendaRules *rules, Agenda agenda, const AgendaSight *sight) {
        if (sight->database_lost)
                agenda.count_wanted = false; /* its moment passes; nobody waits for a database because of a number */
        AgendaWork work = way_out(rules, &agenda, sight);
        if (work == AGENDA_REPORT)
                agenda.reported = true;
        bool over = agenda.settling && sight->now_usec >= agenda.settle_limit_usec;
        if (work == AGENDA_WAIT && !over && sight->database_ready && sight->now_usec >= agenda.rest_usec)
                work = choose(&agenda, sight);
        usec_t until = work == AGENDA_WAIT ? wait_until_usec(&agenda, sight) : 0;
        return (AgendaStep){ .work = work, .until_usec = until, .agenda = agenda };
}

static usec_t rest_usec(const Agenda *agenda, uint32_t random) {
        unsigned doublings = agenda->failures > 16 ? 16 : agenda->failures - 1;
        usec_t rest = usec_min(AGENDA_REST_USEC << doublings, AGENDA_REST_MAX_USEC);

        return spread(agenda->settling ? AGENDA_REST_USEC : rest, random);
}

static Agenda after_failure(Agenda agenda, AgendaWork work, usec_t now, uint32_t random) {
        agenda.failures++;
        agenda.rest_usec = usec_add(now, rest_usec(&agenda, random));
        if (work == AGENDA_COUNT)
                agenda.count_wanted = false;
        return agenda;
}

static usec_t next_turn_usec(const AgendaRules *rules, AgendaWork work, AgendaResult result, usec_t now,
                             uint32_t random) {
        if (result == AGENDA_MORE)
                return work == AGENDA_SWEEP || rules->once ? now : usec_add(now, AGENDA_PRUNE_MORE_USEC);
        if (rules->once)
                return USEC_INFINITY;
        return usec_add(now, spread(work == AGENDA_SWEEP ? rules->interval_usec : AGENDA_PRUNE_USEC, random));
}

Agenda agenda_after(const AgendaRules *rules, Agenda agenda, AgendaWork work, AgendaResult result, usec_t now,
                    uint32_t random) {
        if (result == AGENDA_FAILED)
                return after_failure(agenda, work, now, random);
        agenda.failures = 0;
        agenda.rest_usec = 0;
        if (work == AGENDA_COUNT)
                agenda.count_wanted = false;
        else if (work == AGENDA_SWEEP || work == AGENDA_PRUNE)
                agenda.due_usec[work] = next_turn_usec(rules, work, result, now, random);
        return agenda;
}

Agenda agenda_settle(Agenda agenda, usec_t now, usec_t limit) {
        if (agenda.settling) {
                agenda.settle_limit_usec = usec_min(agenda.settle_limit_usec, limit);
                return agenda;
        }
        agenda.settling = true;
        agenda.hear_limit_usec = usec_min(usec_add(now, AGENDA_HEAR_USEC), limit);
        agenda.settle_limit_usec = limit;
        agenda.rest_usec = usec_min(agenda.rest_usec, usec_add(now, AGENDA_REST_USEC));
        return agenda;
}
