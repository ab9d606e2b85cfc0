/* call_filter.c - see call_filter.h.
 *
 * A call's block follows its comparison, which jumps over it; each way through a block ends in an answer. */
#include "verify/call_filter.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/mman.h>

#define X32_BIT      0x40000000u
#define TMPFILE_BIT  020000000u /* of O_TMPFILE; its other bit is O_DIRECTORY, which reads have as well */
#define NO_SUCH_CALL (SECCOMP_RET_ERRNO | ENOSYS)

static void put(CallFilter *filter, struct sock_filter instruction) {
        assert(filter->length < CALL_FILTER_MAX);
        filter->code[filter->length++] = instruction;
}

static void answer(CallFilter *filter, uint32_t what) {
        put(filter, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

static void load(CallFilter *filter, size_t offset) {
        put(filter, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

/* The lower half, which is the whole of flags, signals and protections: both architectures are little-endian. */
static void load_argument(CallFilter *filter, int8_t which) {
        load(filter, offsetof(struct seccomp_data, args) + (size_t)which * sizeof(uint64_t));
}

/* How many instructions to skip if it holds, and if not. */
static void jump(CallFilter *filter, uint16_t test, uint32_t value, uint8_t yes, uint8_t no) {
        put(filter, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), value, yes, no));
}

static void stop_if_any_bit(CallFilter *filter, uint32_t bits, uint32_t stop) {
        jump(filter, BPF_JSET, bits, 0, 1);
        answer(filter, stop);
        answer(filter, SECCOMP_RET_ALLOW);
}

static void put_signal(CallFilter *filter, const Call *call, uint32_t stop) {
        load_argument(filter, call->flags);
        jump(filter, BPF_JEQ, 0, 0, 1);
        answer(filter, SECCOMP_RET_ALLOW);
        answer(filter, stop);
}

/* MAP_SHARED and MAP_SHARED_VALIDATE have bit 0, MAP_PRIVATE has not. */
static void put_mapping(CallFilter *filter, const Call *call, uint32_t stop) {
        load_argument(filter, (int8_t)(call->flags - 1));
        jump(filter, BPF_JSET, PROT_WRITE, 1, 0);
        answer(filter, SECCOMP_RET_ALLOW);
        load_argument(filter, call->flags);
        jump(filter, BPF_JSET, MAP_ANONYMOUS, 0, 1);
        answer(filter, SECCOMP_RET_ALLOW);
        stop_if_any_bit(filter, MAP_SHARED, stop);
}

static void put_block(CallFilter *filter, const Call *call, CallFilterOpens opens, uint32_t stop) {
        uint32_t changes = O_CREAT | O_TRUNC | TMPFILE_BIT;

        switch (call->role) {
        case CALL_OPENS:
                load_argument(filter, call->flags);
                stop_if_any_bit(filter, opens == CALL_FILTER_WRITERS ? changes | O_ACCMODE : changes, stop);
                return;
        case CALL_SIGNALS: put_signal(filter, call, stop); return;
        case CALL_MAPS: put_mapping(filter, call, stop); return;
        case CALL_OPENS_HOW:
        case CALL_NAMES:
        case CALL_WRITES:
        case CALL_SENDS:
        case CALL_ADDRESSES:
        case CALL_MOUNTS:
        case CALL_RINGS:
        case CALL_TRACES:
        case CALL_EXECUTES: answer(filter, stop); return;
        case _CALL_ROLE_MAX: assert(false);
        }
}

/* The accumulator holds the call's number again behind each comparison that fails: a block that loads never goes on. */
static void put_call(CallFilter *filter, const Call *call, CallArch arch, CallFilterOpens opens, uint32_t stop) {
        unsigned short comparison = filter->length;

        jump(filter, BPF_JEQ, (uint32_t)call->numbers[arch], 0, 0);
        put_block(filter, call, opens, stop);
        filter->code[comparison].jf = (uint8_t)(filter->length - comparison - 1);
}

void call_filter_build(CallFilter *ret, CallArch arch, CallFilterOpens opens, uint32_t stop) {
        ret->length = 0;
        load(ret, offsetof(struct seccomp_data, arch));
        jump(ret, BPF_JEQ, arch == CALL_X86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64, 1, 0);
        answer(ret, NO_SUCH_CALL);
        load(ret, offsetof(struct seccomp_data, nr));
        if (arch == CALL_X86_64) {
                jump(ret, BPF_JGE, X32_BIT, 0, 1);
                answer(ret, NO_SUCH_CALL);
        }
        for (size_t i = 0; i < call_count(); i++)
                if (call_at(i)->numbers[arch] != CALL_NO_NUMBER)
                        put_call(ret, call_at(i), arch, opens, stop);
        answer(ret, SECCOMP_RET_ALLOW);
}
