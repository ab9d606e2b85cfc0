/* laws_holds.c - S and R: held sockets, stored descriptors, and the signals of a reload; see laws.h. */
#include "tests/sim/laws_internal.h"
#include <string.h>

static uint16_t service_of(const Laws *laws, uint32_t member) {
        return laws->world->schedule->service_of[member];
}

void laws_on_close_sockets(Laws *laws, uint32_t service) {
        if (laws->world->schedule->services[service].n_listens == 0)
                laws_break(laws, "S", "sockets of service %u were closed, and it has none", service);
        if (laws->services[service].closed)
                laws_break(laws, "S", "the sockets of service %u were closed twice", service);
        laws->services[service].closed = true;
}

/* A person stops one instance of several. */
static bool another_stays(const Laws *laws, uint32_t member) {
        const Schedule *schedule = laws->world->schedule;
        uint16_t service = service_of(laws, member);
        for (uint32_t i = 0; laws->members[member].held && !laws->ending && i < schedule->services[service].instances;
             i++)
                if (!laws->members[schedule->first_member[service] + i].held)
                        return true;
        return false;
}

/* Who is asked and will not start again has no sockets any more; who starts again keeps them. */
void laws_check_sockets_before(Laws *laws, uint32_t member, const char *reason) {
        ServiceTruth *service = &laws->services[service_of(laws, member)];
        bool stops = strcmp(reason, "ending") == 0 || strcmp(reason, "stop") == 0;
        service->stopped |= stops || laws->ending;
        if (stops && !service->closed && laws_service(laws, member)->n_listens > 0 && !another_stays(laws, member))
                laws_break(laws, "S", "member %u was asked while its sockets were open", member);
}

static bool serves(const Laws *laws, uint32_t member) {
        const MemberTruth *truth = &laws->members[member];
        return laws->world->main_slot[member] != NO_SLOT && !truth->told_to_go && !truth->killed;
}

static bool somebody_serves(const Laws *laws, uint32_t service) {
        const Schedule *schedule = laws->world->schedule;
        for (uint32_t i = 0; i < schedule->services[service].instances; i++)
                if (serves(laws, schedule->first_member[service] + i))
                        return true;
        return false;
}

void laws_check_holds(Laws *laws) {
        const Schedule *schedule = laws->world->schedule;
        for (uint32_t s = 0; s < schedule->config.n_services; s++) {
                const ServiceTruth *truth = &laws->services[s];
                if (schedule->services[s].n_listens == 0)
                        continue;
                bool served = somebody_serves(laws, s);
                if (truth->closed && served && !truth->stopped)
                        laws_break(laws, "S", "the sockets of service %u were closed while it serves", s);
                if (!truth->closed && !served && laws->ending)
                        laws_break(laws, "S", "nobody of service %u can serve any more, and its sockets are open", s);
        }
}

void laws_on_drop_store(Laws *laws, uint32_t member) {
        if (laws_service(laws, member)->descriptor_store_max == 0)
                laws_break(laws, "S", "the store of member %u was dropped, and it has none", member);
        if (laws->members[member].dropped)
                laws_break(laws, "S", "the store of member %u was dropped twice", member);
        if (!laws_is_resting(laws, member))
                laws_break(laws, "S", "the store of member %u was dropped, and it does not rest", member);
        laws->members[member].dropped = true;
}

void laws_check_let_go(Laws *laws) {
        const Schedule *schedule = laws->world->schedule;
        for (uint32_t s = 0; s < schedule->config.n_services; s++)
                if (schedule->services[s].n_listens > 0 && !laws->services[s].closed)
                        laws_break(laws, "S", "the sockets of service %u were never closed", s);
        for (uint32_t m = 0; m < schedule->config.n_members; m++)
                if (laws_service(laws, m)->descriptor_store_max > 0 && !laws->members[m].dropped &&
                    (!laws_service(laws, m)->by_hand || laws->members[m].had_turn))
                        laws_break(laws, "S", "the store of member %u was never dropped", m);
}

void laws_on_reload(Laws *laws) {
        for (uint32_t m = 0; m < laws->world->schedule->config.n_members; m++)
                laws->members[m].reloaded = false;
        laws->reload_signals = 0;
        laws->reloading = true;
}

void laws_on_reload_signal(Laws *laws, uint32_t member, int signal_number) {
        MemberTruth *truth = &laws->members[member];
        if (!laws->reloading || truth->reloaded || laws->ending)
                laws_break(laws, "R", "member %u was told to reload out of its turn", member);
        if (signal_number != laws_service(laws, member)->reload_signal)
                laws_break(laws, "R", "member %u was told to reload by signal %d", member, signal_number);
        if (truth->executed_usec == USEC_INFINITY || truth->told_to_go)
                laws_break(laws, "R", "member %u was told to reload before exec, or after it was asked", member);
        truth->reloaded = true;
        laws->reload_signals++;
}

void laws_on_reloaded(Laws *laws, unsigned n) {
        laws->reloading = false;
        if (n > laws->reload_signals)
                laws_break(laws, "R", "%u were reloaded, says the crew, and %u were told", n, laws->reload_signals);
        for (uint32_t m = 0; m < laws->world->schedule->config.n_members && !laws->world->finished; m++)
                if (laws_is_up(laws, m) && laws->members[m].executed_usec != USEC_INFINITY &&
                    laws_service(laws, m)->reload_signal > 0 && !laws->members[m].reloaded)
                        laws_break(laws, "R", "member %u was not told to reload", m);
}
