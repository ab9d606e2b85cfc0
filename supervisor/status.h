/* status.h - writes the state of everything as the answer to the control socket's `status`.
 *
 * Compact: what means nothing (no pid, no limit, no text) is left out, so that 4096 instances fit into 1 MiB. Times are
 * spans in microseconds: `since_us` ago, `limit_us` and `deadline_us` left. */
#pragma once
#include "base/json.h"
#include "supervisor/crew.h"

void status_write(const Crew *crew, const Config *config, Json *json);
