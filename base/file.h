/* file.h - reads a whole regular file into memory, and waits for none.
 *
 * A FIFO, a device or a directory is refused, so that nobody hangs on what a path happened to name. */
#pragma once
#include <stddef.h>

/* 0 and the text with a NUL behind it; -EISDIR; -EINVAL: no regular file; -EFBIG: more than `most` bytes; -ENOMEM; or
 * the -errno of open(2) and read(2). */
int file_read(const char *path, size_t most, char **ret_text, size_t *ret_length);
/* What to say of these answers: "No such file or directory", "it is not a regular file". */
const char *file_problem(int error);
