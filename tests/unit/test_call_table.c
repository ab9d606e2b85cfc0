/* test_call_table.c - the table of calls against the kernel's own headers, both of them on whatever machine this is. */
#include "verify/call_table.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define ARM_HEADER "/usr/include/asm-generic/unistd.h"
#define X86_HEADER "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"

/* The number that a header gives a name; CALL_NO_NUMBER: it has no such name. */
static long number_in(FILE *header, const char *name) {
        char line[256], word[128], value[64];

        rewind(header);
        while (fgets(line, sizeof line, header)) {
                if (sscanf(line, "#define %127s %63s", word, value) != 2)
                        continue;
                const char *bare = strncmp(word, "__NR_", 5) == 0       ? word + 5
                                   : strncmp(word, "__NR3264_", 9) == 0 ? word + 9 /* one number for 32 and 64 bit */
                                                                        : "";
                if (strcmp(bare, name) == 0 && value[0] >= '0' && value[0] <= '9')
                        return strtol(value, NULL, 10);
        }
        return CALL_NO_NUMBER;
}

/* Younger than the headers of some distributions. */
static bool is_young(const char *name) {
        return strcmp(name, "fchmodat2") == 0;
}

static unsigned compare(CallArch arch, const char *path) {
        FILE *header = fopen(path, "re");
        unsigned compared = 0;

        if (!header)
                return 0;
        for (size_t i = 0; i < call_count(); i++) {
                const Call *call = call_at(i);
                long number = number_in(header, call->name);
                if (number == CALL_NO_NUMBER && is_young(call->name))
                        continue;
                cr_expect_eq(call->numbers[arch], number, "%s in %s: %ld, the table says %d", call->name, path, number,
                             call->numbers[arch]);
                compared++;
        }
        fclose(header);
        return compared;
}

Test(call_table, its_numbers_are_those_of_the_kernels_headers) {
        unsigned arm = compare(CALL_AARCH64, ARM_HEADER), x86 = compare(CALL_X86_64, X86_HEADER);
        cr_expect_geq(arm, call_count() - 1, "%s was not read", ARM_HEADER);
        if (call_arch_native() == CALL_X86_64)
                cr_expect_geq(x86, call_count() - 1, "%s was not read", X86_HEADER);
}

Test(call_table, a_number_means_one_call_only) {
        for (int arch = 0; arch < _CALL_ARCH_MAX; arch++)
                for (size_t i = 0; i < call_count(); i++) {
                        const Call *call = call_at(i);
                        if (call->numbers[arch] != CALL_NO_NUMBER)
                                cr_expect_eq(call_find((CallArch)arch, call->numbers[arch]), call, "%s", call->name);
                }
}

Test(call_table, reads_and_nonsense_are_not_in_it) {
        cr_expect_null(call_find(call_arch_native(), SYS_read));
        cr_expect_null(call_find(call_arch_native(), SYS_exit_group));
        cr_expect_null(call_find(call_arch_native(), CALL_NO_NUMBER),
                       "what an architecture has not is found by no number");
        cr_expect_null(call_find(call_arch_native(), 100000));
}

/* What the tracer takes for granted of each role. */
Test(call_table, each_row_says_where_what_it_changes_is_named) {
        for (size_t i = 0; i < call_count(); i++) {
                const Call *call = call_at(i);
                bool path = call->path != CALL_NO_ARGUMENT, descriptor = call->descriptor != CALL_NO_ARGUMENT;
                switch (call->role) {
                case CALL_OPENS:
                case CALL_OPENS_HOW: cr_expect(path && call->flags == call->path + 1, "%s", call->name); break;
                case CALL_NAMES:
                case CALL_MOUNTS:
                case CALL_EXECUTES: cr_expect(path && !descriptor, "%s", call->name); break;
                case CALL_WRITES:
                case CALL_SENDS:
                case CALL_ADDRESSES: cr_expect(descriptor && !path, "%s", call->name); break;
                case CALL_SIGNALS:
                case CALL_MAPS: cr_expect_neq(call->flags, CALL_NO_ARGUMENT, "%s", call->name); break;
                case CALL_RINGS:
                case CALL_TRACES: cr_expect(!path && !descriptor, "%s", call->name); break;
                case _CALL_ROLE_MAX: cr_expect(false, "%s has no role", call->name); break;
                }
                if (call->directory != CALL_NO_ARGUMENT)
                        cr_expect_eq(call->path, call->directory + 1, "%s", call->name);
                if (call->other_directory != CALL_NO_ARGUMENT)
                        cr_expect_eq(call->other_path, call->other_directory + 1, "%s", call->name);
        }
}
