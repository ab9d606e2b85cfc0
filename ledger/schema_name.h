/* schema_name.h - puts the schema's name into SQL text.
 *
 * Pure but for malloc. */
#pragma once
#include <stddef.h>

#define SCHEMA_PLACEHOLDER "@schema@"
#define SCHEMA_NAME_MAX    63 /* bytes; PostgreSQL would cut a longer one, and two ledgers would be one */

/* 0; or -EINVAL: empty, too long, no UTF-8, a control character in it, ' or $ (the name stands inside quoted bodies of
 * functions), or one of the server's own ("pg_…"). */
int schema_name_judge(const char *name);
/* `my "jobs"` -> `"my ""jobs"""`. NULL: out of memory. */
char *schema_name_quote(const char *name);
/* The text with each placeholder replaced by the quoted name. NULL: out of memory. */
char *schema_name_place(const char *sql, const char *name);
