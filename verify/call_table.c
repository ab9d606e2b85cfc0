/* call_table.c - see call_table.h. */
#include "verify/call_table.h"

#define NONE    CALL_NO_ARGUMENT
#define HAS_NOT CALL_NO_NUMBER

#define CALL(text, x86, arm, what, ...)                                                                                \
        { .name = text, .numbers = { x86, arm }, .role = what, ARGUMENTS, __VA_ARGS__ }
#define ARGUMENTS                                                                                                      \
        .directory = NONE, .path = NONE, .other_directory = NONE, .other_path = NONE, .descriptor = NONE, .flags = NONE

/* What a row says replaces the NONE that stands there for all of them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif

static const Call calls[] = {
        CALL("open", 2, HAS_NOT, CALL_OPENS, .path = 0, .flags = 1, .follows = true),
        CALL("openat", 257, 56, CALL_OPENS, .directory = 0, .path = 1, .flags = 2, .follows = true),
        CALL("openat2", 437, 437, CALL_OPENS_HOW, .directory = 0, .path = 1, .flags = 2, .follows = true),
        CALL("creat", 85, HAS_NOT, CALL_NAMES, .path = 0, .follows = true),

        CALL("write", 1, 64, CALL_WRITES, .descriptor = 0),
        CALL("pwrite64", 18, 68, CALL_WRITES, .descriptor = 0),
        CALL("writev", 20, 66, CALL_WRITES, .descriptor = 0),
        CALL("pwritev", 296, 70, CALL_WRITES, .descriptor = 0),
        CALL("pwritev2", 328, 287, CALL_WRITES, .descriptor = 0),
        CALL("sendfile", 40, 71, CALL_WRITES, .descriptor = 0),
        CALL("copy_file_range", 326, 285, CALL_WRITES, .descriptor = 2),
        CALL("splice", 275, 76, CALL_WRITES, .descriptor = 2),
        CALL("ftruncate", 77, 46, CALL_WRITES, .descriptor = 0),
        CALL("fallocate", 285, 47, CALL_WRITES, .descriptor = 0),
        CALL("fchmod", 91, 52, CALL_WRITES, .descriptor = 0),
        CALL("fchown", 93, 55, CALL_WRITES, .descriptor = 0),
        CALL("fsetxattr", 190, 7, CALL_WRITES, .descriptor = 0),
        CALL("fremovexattr", 199, 16, CALL_WRITES, .descriptor = 0),

        CALL("truncate", 76, 45, CALL_NAMES, .path = 0, .follows = true),
        CALL("unlink", 87, HAS_NOT, CALL_NAMES, .path = 0),
        CALL("unlinkat", 263, 35, CALL_NAMES, .directory = 0, .path = 1),
        CALL("rmdir", 84, HAS_NOT, CALL_NAMES, .path = 0),
        CALL("mkdir", 83, HAS_NOT, CALL_NAMES, .path = 0),
        CALL("mkdirat", 258, 34, CALL_NAMES, .directory = 0, .path = 1),
        CALL("mknod", 133, HAS_NOT, CALL_NAMES, .path = 0),
        CALL("mknodat", 259, 33, CALL_NAMES, .directory = 0, .path = 1),
        CALL("symlink", 88, HAS_NOT, CALL_NAMES, .path = 1),
        CALL("symlinkat", 266, 36, CALL_NAMES, .directory = 1, .path = 2),
        CALL("rename", 82, HAS_NOT, CALL_NAMES, .path = 0, .other_path = 1),
        CALL("renameat", 264, 38, CALL_NAMES, .directory = 0, .path = 1, .other_directory = 2, .other_path = 3),
        CALL("renameat2", 316, 276, CALL_NAMES, .directory = 0, .path = 1, .other_directory = 2, .other_path = 3),
        CALL("link", 86, HAS_NOT, CALL_NAMES, .path = 0, .other_path = 1),
        CALL("linkat", 265, 37, CALL_NAMES, .directory = 0, .path = 1, .other_directory = 2, .other_path = 3),
        CALL("chmod", 90, HAS_NOT, CALL_NAMES, .path = 0, .follows = true),
        CALL("fchmodat", 268, 53, CALL_NAMES, .directory = 0, .path = 1, .follows = true),
        CALL("fchmodat2", 452, 452, CALL_NAMES, .directory = 0, .path = 1, .follows = true),
        CALL("chown", 92, HAS_NOT, CALL_NAMES, .path = 0, .follows = true),
        CALL("lchown", 94, HAS_NOT, CALL_NAMES, .path = 0),
        CALL("fchownat", 260, 54, CALL_NAMES, .directory = 0, .path = 1, .follows = true),
        CALL("utime", 132, HAS_NOT, CALL_NAMES, .path = 0, .follows = true),
        CALL("utimes", 235, HAS_NOT, CALL_NAMES, .path = 0, .follows = true),
        CALL("futimesat", 261, HAS_NOT, CALL_NAMES, .directory = 0, .path = 1, .follows = true),
        CALL("utimensat", 280, 88, CALL_NAMES, .directory = 0, .path = 1, .follows = true),
        CALL("setxattr", 188, 5, CALL_NAMES, .path = 0, .follows = true),
        CALL("lsetxattr", 189, 6, CALL_NAMES, .path = 0),
        CALL("removexattr", 197, 14, CALL_NAMES, .path = 0, .follows = true),
        CALL("lremovexattr", 198, 15, CALL_NAMES, .path = 0),

        CALL("connect", 42, 203, CALL_ADDRESSES, .descriptor = 0),
        CALL("bind", 49, 200, CALL_ADDRESSES, .descriptor = 0),
        CALL("sendto", 44, 206, CALL_SENDS, .descriptor = 0),
        CALL("sendmsg", 46, 211, CALL_SENDS, .descriptor = 0),
        CALL("sendmmsg", 307, 269, CALL_SENDS, .descriptor = 0),

        CALL("kill", 62, 129, CALL_SIGNALS, .flags = 1),
        CALL("tkill", 200, 130, CALL_SIGNALS, .flags = 1),
        CALL("tgkill", 234, 131, CALL_SIGNALS, .flags = 2),
        CALL("rt_sigqueueinfo", 129, 138, CALL_SIGNALS, .flags = 1),
        CALL("rt_tgsigqueueinfo", 297, 240, CALL_SIGNALS, .flags = 2),
        CALL("pidfd_send_signal", 424, 424, CALL_SIGNALS, .descriptor = 0, .flags = 1),

        CALL("mount", 165, 40, CALL_MOUNTS, .path = 1, .follows = true),
        CALL("umount2", 166, 39, CALL_MOUNTS, .path = 0, .follows = true),
        CALL("pivot_root", 155, 41, CALL_MOUNTS, .path = 0, .follows = true),
        CALL("move_mount", 429, 429, CALL_MOUNTS, .directory = 2, .path = 3, .follows = true),
        CALL("mount_setattr", 442, 442, CALL_MOUNTS, .directory = 0, .path = 1, .follows = true),

        CALL("mmap", 9, 222, CALL_MAPS, .descriptor = 4, .flags = 3),
        CALL("io_uring_setup", 425, 425, CALL_RINGS),
        CALL("ptrace", 101, 117, CALL_TRACES),
        CALL("execve", 59, 221, CALL_EXECUTES, .path = 0, .follows = true),
        CALL("execveat", 322, 281, CALL_EXECUTES, .directory = 0, .path = 1, .follows = true),
};
#pragma GCC diagnostic pop

size_t call_count(void) {
        return sizeof calls / sizeof *calls;
}

const Call *call_at(size_t index) {
        return &calls[index];
}

const Call *call_find(CallArch arch, long number) {
        if (number < 0)
                return NULL;
        for (size_t i = 0; i < call_count(); i++)
                if (calls[i].numbers[arch] == number)
                        return &calls[i];
        return NULL;
}

CallArch call_arch_native(void) {
#if defined(__x86_64__)
        return CALL_X86_64;
#elif defined(__aarch64__)
        return CALL_AARCH64;
#else
#error "the effect tracer knows x86-64 and aarch64"
#endif
}
