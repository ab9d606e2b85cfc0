/* tree.h - signals everything that lives below this process, however deep and in whatever session.
 *
 * The caller is a subreaper, so that no orphan of the tree can leave it. A process between the look and the signal may
 * fork or vanish: whoever wants an empty tree looks again until waitid(2) knows of no child. */
#pragma once
#include <stddef.h>

/* Their number; names of the first (comm, parted by blanks, cut) in ret_names when that is not NULL. Or -errno. */
int tree_signal(int signal_number, char *ret_names, size_t size);
