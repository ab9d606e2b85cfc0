/* strays.h - ends what a run without a PID namespace may have left: by a variable in its environment.
 *
 * A process that has cleaned its environment is not found. */
#pragma once

#define STRAYS_VARIABLE "ENDWELL_WORLD"

/* Kills every process that was started with STRAYS_VARIABLE=`name`, and waits until none is left. 0; -ETIMEDOUT: one
 * does not die; or -errno. */
int strays_end(const char *name);
