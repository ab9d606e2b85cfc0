/* embedded_cluster.h - makes the cluster of an embedded database, and clears away what a killed one left; for
 * embedded_*.c only. */
#pragma once
#include "ledger/embedded_folder.h"
#include "ledger/embedded_programs.h"

/* Under another name beside, then renamed: a kill in between leaves nothing that counts. Tells PID 1 how far it is. 0
 * or -errno; then what went wrong is said already. */
int embedded_make_cluster(const EmbeddedFolder *folder, const char *path, const EmbeddedPrograms *programs);

/* Who holds the folder's lock knows that no process of the cluster lives, whatever its pid file says: in another
 * container that number may be anybody's. A living postgres of ours is left for PostgreSQL to judge. 0 or -errno. */
int embedded_clear_stale(const EmbeddedFolder *folder);
