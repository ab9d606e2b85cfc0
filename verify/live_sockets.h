/* live_sockets.h - the paths of the Unix sockets at which somebody answers, from the kernel's table.
 *
 * Pure but for malloc. Source: /proc/net/unix, proc(5). */
#pragma once

/* NULL-terminated, without abstract and relative ones; texts_free() them. 0; -EBADMSG: no such table; -ENOMEM. */
int live_sockets_parse(const char *text, char ***ret);
