/* embedded_folder.h - the folder of an embedded database: what is in it, whose it is, and who makes it; for
 * embedded_*.c only.
 *
 * Nothing in it that is not ours is ever touched. All answers below 0 come with a sentence that says what is wrong and
 * what would be right. */
#pragma once
#include <stddef.h>
#include <sys/types.h>

#define EMBEDDED_PROBLEM_MAX 512

typedef struct EmbeddedFolder {
        int fd;           /* of the folder; the caller closes it */
        unsigned version; /* of the cluster in it; 0: there is none yet */
} EmbeddedFolder;

/* As root, for another user: makes it, or gives him an empty one that belongs to root. 0 or -errno. */
int embedded_prepare_folder(const char *path, uid_t uid, gid_t gid, char ret_problem[static EMBEDDED_PROBLEM_MAX]);

/* As that user: opens it, makes it where he may, and looks what is in it. 0 or -errno. */
int embedded_open_folder(const char *path, EmbeddedFolder *ret, char ret_problem[static EMBEDDED_PROBLEM_MAX]);

/* From now on, as long as any process has the descriptor that is answered, nobody else gets one: across exec, and in
 * every process of the database. -EWOULDBLOCK: somebody has. */
int embedded_lock_folder(const EmbeddedFolder *folder);

/* Removes a file or a whole tree in the folder; one that is not there is removed. 0 or -errno. */
int embedded_remove(const EmbeddedFolder *folder, const char *path, const char *name);
/* Writes a file of 0600 in one stroke: the old one, or the whole new one. 0 or -errno. */
int embedded_write(const EmbeddedFolder *folder, const char *name, const char *text);
