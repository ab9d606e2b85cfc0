/* config_capabilities.c - see config_capabilities.h. */
#include "supervisor/config_capabilities.h"
#include "base/names.h"
#include "base/take.h"
#include "base/words.h"
#include <linux/capability.h>
#include <string.h>
#include <strings.h>

#define KNOWN     ((UINT64_C(1) << LENGTH_OF(names)) - 1)
#define SHOWN_MAX 40
#define PREFIX    "CAP_"

/* The letters and not pointers to them: the dynamic linker would write each pointer, and PID 1 keep the page. */
static const char names[][24] = {
        [CAP_CHOWN] = "CAP_CHOWN",
        [CAP_DAC_OVERRIDE] = "CAP_DAC_OVERRIDE",
        [CAP_DAC_READ_SEARCH] = "CAP_DAC_READ_SEARCH",
        [CAP_FOWNER] = "CAP_FOWNER",
        [CAP_FSETID] = "CAP_FSETID",
        [CAP_KILL] = "CAP_KILL",
        [CAP_SETGID] = "CAP_SETGID",
        [CAP_SETUID] = "CAP_SETUID",
        [CAP_SETPCAP] = "CAP_SETPCAP",
        [CAP_LINUX_IMMUTABLE] = "CAP_LINUX_IMMUTABLE",
        [CAP_NET_BIND_SERVICE] = "CAP_NET_BIND_SERVICE",
        [CAP_NET_BROADCAST] = "CAP_NET_BROADCAST",
        [CAP_NET_ADMIN] = "CAP_NET_ADMIN",
        [CAP_NET_RAW] = "CAP_NET_RAW",
        [CAP_IPC_LOCK] = "CAP_IPC_LOCK",
        [CAP_IPC_OWNER] = "CAP_IPC_OWNER",
        [CAP_SYS_MODULE] = "CAP_SYS_MODULE",
        [CAP_SYS_RAWIO] = "CAP_SYS_RAWIO",
        [CAP_SYS_CHROOT] = "CAP_SYS_CHROOT",
        [CAP_SYS_PTRACE] = "CAP_SYS_PTRACE",
        [CAP_SYS_PACCT] = "CAP_SYS_PACCT",
        [CAP_SYS_ADMIN] = "CAP_SYS_ADMIN",
        [CAP_SYS_BOOT] = "CAP_SYS_BOOT",
        [CAP_SYS_NICE] = "CAP_SYS_NICE",
        [CAP_SYS_RESOURCE] = "CAP_SYS_RESOURCE",
        [CAP_SYS_TIME] = "CAP_SYS_TIME",
        [CAP_SYS_TTY_CONFIG] = "CAP_SYS_TTY_CONFIG",
        [CAP_MKNOD] = "CAP_MKNOD",
        [CAP_LEASE] = "CAP_LEASE",
        [CAP_AUDIT_WRITE] = "CAP_AUDIT_WRITE",
        [CAP_AUDIT_CONTROL] = "CAP_AUDIT_CONTROL",
        [CAP_SETFCAP] = "CAP_SETFCAP",
        [CAP_MAC_OVERRIDE] = "CAP_MAC_OVERRIDE",
        [CAP_MAC_ADMIN] = "CAP_MAC_ADMIN",
        [CAP_SYSLOG] = "CAP_SYSLOG",
        [CAP_WAKE_ALARM] = "CAP_WAKE_ALARM",
        [CAP_BLOCK_SUSPEND] = "CAP_BLOCK_SUSPEND",
        [CAP_AUDIT_READ] = "CAP_AUDIT_READ",
        [CAP_PERFMON] = "CAP_PERFMON",
        [CAP_BPF] = "CAP_BPF",
        [CAP_CHECKPOINT_RESTORE] = "CAP_CHECKPOINT_RESTORE",
};

const char *capability_name(unsigned number) {
        return number < LENGTH_OF(names) ? names[number] : NULL;
}

/* The letters that all of them begin with would make every one the neighbour of every other. */
static const char *find_nearest(const char *word) {
        const char *tails[LENGTH_OF(names)], *tail = word + (strncasecmp(word, PREFIX, strlen(PREFIX)) == 0 ? 4 : 0);

        for (size_t i = 0; i < LENGTH_OF(names); i++) {
                tails[i] = names[i] + strlen(PREFIX);
                if (strlen(tail) >= 3 && strncasecmp(tails[i], tail, strlen(tail)) == 0)
                        return names[i];
        }
        const char *nearest = name_nearest(tail, tails, LENGTH_OF(tails));
        return nearest ? nearest - strlen(PREFIX) : NULL;
}

static int read_name(const char *word, uint64_t *set, Problem *problem) {
        for (unsigned i = 0; i < LENGTH_OF(names); i++)
                if (strcasecmp(names[i], word) == 0) {
                        *set |= CAPABILITY(i);
                        return 0;
                }
        const char *nearest = find_nearest(word);
        return problem_say(problem, "%.*s is no capability%s%s%s", SHOWN_MAX, word, nearest ? ", did you mean " : "",
                           nearest ? nearest : " (write CAP_NET_BIND_SERVICE; see capabilities(7))",
                           nearest ? "?" : "");
}

int capabilities_read(const char *text, bool *given, uint64_t *set, Problem *problem) {
        _cleanup_(freep) char **words = NULL;
        bool inverted = *text == '~';
        const char *why = NULL;
        uint64_t named = 0;
        size_t n = 0;

        int r = words_split(text + inverted, &words, &n, &why);
        if (r == -EINVAL)
                return problem_say(problem, "%s", why);
        for (size_t i = 0; i < n && r == 0; i++)
                r = read_name(words[i], &named, problem);
        if (r < 0)
                return r;
        if (n == 0)
                *set = inverted ? CAPABILITIES_ALL : 0;
        else if (!*given)
                *set = inverted ? ~named : named;
        else
                *set = inverted ? *set & ~named : *set | named;
        *given = true;
        return 0;
}

static void put_names(uint64_t set, const char *before, char *text) {
        size_t length = (size_t)(stpcpy(text, before) - text);

        for (unsigned i = 0; i < LENGTH_OF(names); i++)
                if (set & CAPABILITY(i))
                        length += (size_t)snprintf(text + length, CAPABILITIES_TEXT_MAX - length, "%s%s",
                                                   length ? " " : "", names[i]);
}

const char *capabilities_format(uint64_t set, char ret_text[static CAPABILITIES_TEXT_MAX]) {
        uint64_t in = set & KNOWN, out = ~set & KNOWN;

        if (in == 0)
                return strcpy(ret_text, "none");
        if (out == 0)
                return strcpy(ret_text, "all");
        if (__builtin_popcountll(out) < __builtin_popcountll(in))
                put_names(out, "all but", ret_text);
        else
                put_names(in, "", ret_text);
        return ret_text;
}
