/* test_call_filter.c - the seccomp program, run over every call there may be. */
#include "tests/support/bpf.h"
#include "verify/call_filter.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define STOP         SECCOMP_RET_TRACE
#define NO_SUCH_CALL (SECCOMP_RET_ERRNO | ENOSYS)
#define NUMBERS      1024

static unsigned arch_word(CallArch arch) {
        return arch == CALL_X86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
}

static unsigned ask(CallArch arch, CallFilterOpens opens, const struct seccomp_data *call) {
        CallFilter filter;
        call_filter_build(&filter, arch, opens, STOP);
        return bpf_run(filter.code, filter.length, call);
}

static const Call *named(const char *name) {
        for (size_t i = 0; i < call_count(); i++)
                if (strcmp(call_at(i)->name, name) == 0)
                        return call_at(i);
        cr_assert(false, "%s is not in the table", name);
        return NULL;
}

/* A call by name, with one argument set. */
static unsigned ask_with(CallFilterOpens opens, const char *name, int which, unsigned long value) {
        struct seccomp_data call = { .nr = named(name)->numbers[CALL_AARCH64], .arch = arch_word(CALL_AARCH64) };
        call.args[which] = value;
        return ask(CALL_AARCH64, opens, &call);
}

static bool always_stops(CallRole role) {
        return role != CALL_OPENS && role != CALL_SIGNALS && role != CALL_MAPS;
}

Test(call_filter, stops_what_is_in_the_table_and_nothing_else_whatever_the_arguments) {
        for (int arch = 0; arch < _CALL_ARCH_MAX; arch++) {
                CallFilter filter;
                call_filter_build(&filter, (CallArch)arch, CALL_FILTER_CHANGES, STOP);
                for (int number = 0; number < NUMBERS; number++) {
                        const Call *call = call_find((CallArch)arch, number);
                        struct seccomp_data data = { .nr = number, .arch = arch_word((CallArch)arch) };
                        unsigned answer = bpf_run(filter.code, filter.length, &data);
                        cr_expect_eq(answer, call && always_stops(call->role) ? STOP : SECCOMP_RET_ALLOW,
                                     "call %d (%s) of architecture %d", number, call ? call->name : "a read", arch);
                        memset(data.args, 0xff, sizeof data.args);
                        if (!call)
                                cr_expect_eq(bpf_run(filter.code, filter.length, &data), SECCOMP_RET_ALLOW, "%d",
                                             number);
                }
        }
}

Test(call_filter, reads_never_stop_and_an_open_that_changes_something_does) {
        static const unsigned long reads[] = { O_RDONLY, O_RDONLY | O_CLOEXEC, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                                               O_PATH },
                                   writers[] = { O_WRONLY, O_RDWR, O_WRONLY | O_APPEND },
                                   changes[] = { O_WRONLY | O_CREAT, O_RDONLY | O_CREAT, O_RDWR | O_TRUNC,
                                                 O_RDONLY | O_TRUNC, O_WRONLY | O_TMPFILE };
        for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
                cr_expect_eq(ask_with(CALL_FILTER_CHANGES, "openat", 2, reads[i]), SECCOMP_RET_ALLOW, "%#lx", reads[i]);
                cr_expect_eq(ask_with(CALL_FILTER_WRITERS, "openat", 2, reads[i]), SECCOMP_RET_ALLOW, "%#lx", reads[i]);
        }
        for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
                cr_expect_eq(ask_with(CALL_FILTER_CHANGES, "openat", 2, writers[i]), SECCOMP_RET_ALLOW);
                cr_expect_eq(ask_with(CALL_FILTER_WRITERS, "openat", 2, writers[i]), STOP);
        }
        for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
                cr_expect_eq(ask_with(CALL_FILTER_CHANGES, "openat", 2, changes[i]), STOP, "%#lx", changes[i]);
}

Test(call_filter, the_question_whether_a_process_lives_is_no_signal) {
        cr_expect_eq(ask_with(CALL_FILTER_CHANGES, "kill", 1, 0), SECCOMP_RET_ALLOW);
        cr_expect_eq(ask_with(CALL_FILTER_CHANGES, "kill", 1, SIGTERM), STOP);
        cr_expect_eq(ask_with(CALL_FILTER_CHANGES, "tgkill", 1, SIGTERM), SECCOMP_RET_ALLOW,
                     "that is a thread's number");
        cr_expect_eq(ask_with(CALL_FILTER_CHANGES, "tgkill", 2, SIGTERM), STOP);
}

Test(call_filter, only_a_mapping_of_a_file_that_is_shared_and_written_is_looked_at) {
        static const struct {
                unsigned long protection, flags;
                bool stops;
        } mappings[] = {
                { PROT_READ | PROT_WRITE, MAP_SHARED, true },
                { PROT_WRITE, MAP_SHARED_VALIDATE, true },
                { PROT_READ, MAP_SHARED, false },
                { PROT_READ | PROT_WRITE, MAP_PRIVATE, false },
                { PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, false },
                { PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, false },
                { PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, false },
        };
        for (size_t i = 0; i < sizeof mappings / sizeof *mappings; i++) {
                struct seccomp_data call = { .nr = named("mmap")->numbers[CALL_X86_64], .arch = AUDIT_ARCH_X86_64 };
                call.args[2] = mappings[i].protection;
                call.args[3] = mappings[i].flags;
                cr_expect_eq(ask(CALL_X86_64, CALL_FILTER_CHANGES, &call), mappings[i].stops ? STOP : SECCOMP_RET_ALLOW,
                             "mapping %zu", i);
        }
}

Test(call_filter, calls_by_another_table_do_not_exist) {
        struct seccomp_data call = { .nr = 5, .arch = AUDIT_ARCH_I386 };
        cr_expect_eq(ask(CALL_X86_64, CALL_FILTER_CHANGES, &call), NO_SUCH_CALL);
        call = (struct seccomp_data){ .nr = 0x40000000 + 1, .arch = AUDIT_ARCH_X86_64 };
        cr_expect_eq(ask(CALL_X86_64, CALL_FILTER_CHANGES, &call), NO_SUCH_CALL, "x32");
        call = (struct seccomp_data){ .nr = 1, .arch = AUDIT_ARCH_ARM };
        cr_expect_eq(ask(CALL_AARCH64, CALL_FILTER_CHANGES, &call), NO_SUCH_CALL);
}
