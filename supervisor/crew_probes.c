/* crew_probes.c - the probes of the members: when each looks, and what its answers change. */
#include "supervisor/crew_internal.h"

void crew_on_probed(Crew *crew, uint32_t probe_run, ProbeAnswer answer, const char *detail) {
        (void)crew, (void)probe_run, (void)answer, (void)detail;
}

void crew_on_ready_line(Crew *crew, uint32_t member) {
        (void)crew, (void)member;
}

unsigned crew_reload(Crew *crew) {
        (void)crew;
        return 0;
}

size_t crew_probe_runs(const Crew *crew) {
        (void)crew;
        return 0;
}

ProbeView crew_probe_view(const Crew *crew, uint32_t probe_run) {
        (void)crew, (void)probe_run;
        return (ProbeView){ 0 };
}
