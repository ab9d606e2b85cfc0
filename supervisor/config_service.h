/* config_service.h - the parts of a [Service] that have a file of their own; for config_*.c only. */
#pragma once
#include "supervisor/config_reading.h"

/* ReadinessProbe, LivenessProbe, StartupProbe */
void service_read_probes(Reading *reading, const SettingsSection *section, ServiceConfig *service);
/* Listen */
void service_read_listens(Reading *reading, const SettingsSection *section, ServiceConfig *service);
/* What contradicts itself in one service, and what was hardly meant so. */
void service_check(Reading *reading, const SettingsSection *section, const ServiceConfig *service);
/* What cannot be true of two services together: an address twice, a terminal twice. */
void services_check_sockets(Reading *reading);
void services_check_terminal(Reading *reading);
