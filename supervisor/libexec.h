/* libexec.h - finds the built-in programs, wherever this one was installed or built.
 *
 * Relative to /proc/self/exe, so that an installation can be moved: ../libexec/endwell/endwell-ROOM beside the folder
 * of an installed `endwell`, ../ROOM/endwell-NAME beside it in a build tree. */
#pragma once
#include <limits.h>

/* "logger" -> an absolute path. 0; -ENOENT: it is in neither place; or -errno (no /proc). */
int libexec_find(const char *name, char ret_path[static PATH_MAX]);
