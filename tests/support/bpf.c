/* bpf.c - see bpf.h. */
#include "tests/support/bpf.h"
#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

static unsigned load(const struct seccomp_data *call, unsigned offset) {
        unsigned value = 0;
        cr_assert(offset % sizeof value == 0 && offset + sizeof value <= sizeof *call, "a load from %u", offset);
        memcpy(&value, (const char *)call + offset, sizeof value);
        return value;
}

static bool holds(const struct sock_filter *one, unsigned accumulator) {
        switch (BPF_OP(one->code)) {
        case BPF_JEQ: return accumulator == one->k;
        case BPF_JGE: return accumulator >= one->k;
        case BPF_JSET: return (accumulator & one->k) != 0;
        default: cr_assert(false, "a jump of kind %#x", BPF_OP(one->code));
        }
        return false;
}

unsigned bpf_run(const struct sock_filter *code, unsigned length, const struct seccomp_data *call) {
        unsigned accumulator = 0;

        for (unsigned at = 0; at < length; at++) {
                const struct sock_filter *one = &code[at];
                switch (BPF_CLASS(one->code)) {
                case BPF_LD: accumulator = load(call, one->k); break;
                case BPF_JMP: at += holds(one, accumulator) ? one->jt : one->jf; break;
                case BPF_RET: return one->k;
                default: cr_assert(false, "an instruction of kind %#x", one->code);
                }
        }
        cr_assert(false, "the program ran out");
        return 0;
}
