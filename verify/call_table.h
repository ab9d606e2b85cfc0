/* call_table.h - the system calls that may change something outside their process, and which of their arguments name
 * it.
 *
 * Pure: one table for all architectures. Numbers are those of the kernel's own headers (asm/unistd_64.h for x86-64,
 * asm-generic/unistd.h for aarch64); tests/unit/test_call_table.c compares. A call that is not here is a read, or
 * changes its own process only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CallArch { CALL_X86_64, CALL_AARCH64, _CALL_ARCH_MAX } CallArch;

#define CALL_NO_ARGUMENT (-1)
#define CALL_NO_NUMBER   (-1) /* the architecture has no such call */

typedef enum CallRole {
        CALL_OPENS,     /* a change only with O_CREAT, O_TRUNC or O_TMPFILE in its flags */
        CALL_OPENS_HOW, /* the same, but the flags are in memory: openat2 */
        CALL_NAMES,     /* changes what a path names */
        CALL_WRITES,    /* changes what a descriptor names: a file, or a socket, or nothing that counts (a pipe) */
        CALL_SENDS,     /* to a socket */
        CALL_ADDRESSES, /* connect, bind: the address is in memory */
        CALL_SIGNALS,   /* a process, but with signal 0 */
        CALL_MOUNTS,
        CALL_MAPS,     /* a blind spot, if the mapping is shared and can be written */
        CALL_RINGS,    /* a blind spot: what io_uring does is no call */
        CALL_TRACES,   /* a blind spot: who is traced already cannot be traced by us */
        CALL_EXECUTES, /* a blind spot, if the program is set-user-ID */
        _CALL_ROLE_MAX,
} CallRole;

typedef struct Call {
        const char *name;
        int16_t numbers[_CALL_ARCH_MAX]; /* CALL_NO_NUMBER: none */
        CallRole role;
        /* Which argument it is, from 0; CALL_NO_ARGUMENT: none. A path without a directory is the caller's. */
        int8_t directory, path;             /* what is changed */
        int8_t other_directory, other_path; /* the second name of rename and link */
        int8_t descriptor;                  /* what is written to */
        int8_t flags;                       /* open's flags; mmap's; a signal's number */
        bool follows;                       /* a symlink as the last component is followed */
} Call;

size_t call_count(void);
const Call *call_at(size_t index); /* below call_count() */

/* The call with this number; NULL: it changes nothing. */
const Call *call_find(CallArch arch, long number);

/* What this program was built for. */
CallArch call_arch_native(void);
