/* respawn.c - see respawn.h. */
#include "supervisor/respawn.h"

usec_t respawn_reset_usec(const RespawnRules *rules) {
        return usec_max(60 * USEC_PER_SEC, rules->delay_max_usec);
}

/* ±10 %, so that instances that died together do not come back together. */
static usec_t jitter(usec_t delay, uint32_t random) {
        usec_t tenth = delay / 10;
        return delay - tenth + (usec_t)((double)(2 * tenth) * ((double)random / (double)UINT32_MAX));
}

static usec_t doubled(const RespawnRules *rules, const Respawn *now) {
        if (now->delay_usec == 0)
                return usec_min(rules->delay_usec, usec_max(rules->delay_usec, rules->delay_max_usec));
        usec_t twice = now->delay_usec > USEC_INFINITY / 2 ? USEC_INFINITY : 2 * now->delay_usec;
        return usec_min(twice, usec_max(rules->delay_usec, rules->delay_max_usec));
}

static RespawnAnswer failed(const RespawnRules *rules, Respawn now, uint32_t random) {
        now.failures++;
        if (rules->restart == RESTART_NO || (rules->burst > 0 && now.failures >= rules->burst))
                return (RespawnAnswer){ .next = NEXT_GIVE_UP, .respawn = now };
        now.delay_usec = doubled(rules, &now);
        return (RespawnAnswer){ .next = NEXT_RESTART, .respawn = now, .delay_usec = jitter(now.delay_usec, random) };
}

RespawnAnswer respawn_decide(const RespawnRules *rules, Respawn now, Outcome outcome, usec_t ready_usec,
                             uint32_t random) {
        if (ready_usec >= respawn_reset_usec(rules))
                now = (Respawn){ 0 };
        if (rules->oneshot && outcome != OUTCOME_FAILED)
                return (RespawnAnswer){ .next = NEXT_REST, .respawn = now };
        if (outcome == OUTCOME_FAILED)
                return failed(rules, now, random);
        if (rules->restart != RESTART_ALWAYS)
                return (RespawnAnswer){ .next = NEXT_REST, .respawn = now };
        if (outcome != OUTCOME_RECYCLE && ready_usec < RESPAWN_EARLY_USEC)
                return failed(rules, now, random);
        return (RespawnAnswer){ .next = NEXT_RESTART, .respawn = now, .delay_usec = jitter(rules->delay_usec, random) };
}
