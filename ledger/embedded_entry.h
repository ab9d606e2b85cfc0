/* embedded_entry.h - who may connect to an embedded database: the text of its pg_hba.conf and pg_ident.conf; for
 * embedded_*.c only.
 *
 * Pure. No passwords: the kernel says who is at the other end of the socket (peer), and a map says as whom he may come.
 * Source: "Peer Authentication" and "User Name Maps" in PostgreSQL's manual. */
#pragma once
#include <stddef.h>

#define EMBEDDED_ROLE  "endwell"  /* owns the database of that name; no superuser */
#define EMBEDDED_SUPER "postgres" /* may do anything */

extern const char embedded_hba[];

/* `users`: those who may be EMBEDDED_ROLE, "root:app:web"; `super`: he and root may be EMBEDDED_SUPER, too. 0; -EINVAL:
 * a name that cannot be written; -ENOSPC: too many for `size`. */
int embedded_write_ident(const char *users, const char *super, char *ret_text, size_t size);
