/* pid1_probes.c - carries out the checks of probes: commands as children of ours, the others by the prober. */
#include <errno.h>

#include "supervisor/pid1.h"

int pid1_probe(void *self, uint32_t probe_run) {
        (void)self, (void)probe_run;
        return -ENOSYS;
}

void pid1_call_off_probe(void *self, uint32_t probe_run) {
        (void)self, (void)probe_run;
}

void pid1_on_probe_exited(Pid1 *pid1, pid_t pid, uint32_t probe_run, Ended how) {
        (void)pid1, (void)pid, (void)probe_run, (void)how;
}
