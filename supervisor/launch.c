/* launch.c - the steps of a child between fork and exec. */
#include "supervisor/launch.h"
#include "base/take.h"
#include "supervisor/descriptors.h"
#include "supervisor/listening.h"
#include "supervisor/rights.h"
#include "supervisor/signals.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define EXIT_SETUP          125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127
#define DEFAULT_PATH        "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static int exit_code_for(ChildStep step, int error) {
        if (step != CHILD_STEP_EXEC)
                return EXIT_SETUP;
        return error == ENOENT || error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static void tell(int failure_fd, ChildFailure failure) {
        /* An empty pipe takes so few bytes whole. When nobody reads any more, the exit code still tells the kind. */
        ssize_t n = write(failure_fd, &failure, sizeof failure);
        (void)n;
}

_Noreturn static void fail_with(int failure_fd, ChildFailure failure) {
        tell(failure_fd, failure);
        _exit(exit_code_for(failure.step, failure.error));
}

_Noreturn static void fail(int failure_fd, ChildStep step, int error) {
        fail_with(failure_fd, (ChildFailure){ .step = step, .error = error });
}

static int enter_session(ChildSession session) {
        switch (session) {
        case CHILD_OWN_SESSION: return setsid() < 0 ? -errno : 0;
        case CHILD_OWN_GROUP: return setpgid(0, 0) < 0 ? -errno : 0;
        case CHILD_FOREGROUND:
                if (setpgid(0, 0) < 0)
                        return -errno;
                /* SIGTTOU is blocked here, so the background may ask. No terminal, or not our own: nothing to give. */
                if (tcsetpgrp(STDIN_FILENO, getpid()) < 0 && errno != ENOTTY && errno != ENXIO && errno != EIO)
                        return -errno;
                return 0;
        }
        return -EINVAL;
}

static int set_parent_death_signal(int number, pid_t parent) {
        if (number == 0)
                return 0;
        if (prctl(PR_SET_PDEATHSIG, number, 0, 0, 0) < 0)
                return -errno;
        /* The parent may have died before the kernel knew our wish: then we tell it ourselves. It stays pending until
         * the mask is empty. */
        if (getppid() != parent && kill(getpid(), number) < 0)
                return -errno;
        return 0;
}

static size_t count(char *const *strings) {
        size_t n = 0;
        while (strings[n])
                n++;
        return n;
}

/* A text file without `#!` is a script for the shell, as execvp(3) has it. The new argv lives in a mapping of its own:
 * malloc's locks are not ours here, and its length has no bound that would fit on a stack. */
static int exec_by_shell(const char *path, char *const *argv, char *const *envp) {
        size_t n = count(argv);
        char **words = mmap(NULL, (n + 2) * sizeof *words, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (words == MAP_FAILED)
                return -errno;
        words[0] = (char *)"/bin/sh";
        words[1] = (char *)path;
        for (size_t i = 1; i < n; i++)
                words[i + 1] = argv[i]; /* the mapping is born as zeros, so the NULL at the end is there */
        execve(words[0], words, envp);
        return -errno;
}

static int exec_path(const char *path, char *const *argv, char *const *envp) {
        execve(path, argv, envp);
        int r = -errno;
        return r == -ENOEXEC ? exec_by_shell(path, argv, envp) : r;
}

static const char *search_path(char *const *envp) {
        for (; envp && *envp; envp++)
                if (strncmp(*envp, "PATH=", 5) == 0)
                        return *envp + 5;
        return DEFAULT_PATH;
}

/* DIRECTORY/NAME; an empty directory is the working directory. False: it does not fit, so no such file can exist. */
static bool join(const char *directory, size_t length, const char *name, char ret_path[static PATH_MAX]) {
        size_t name_length = strlen(name);
        if (length + name_length + 2 > PATH_MAX)
                return false;
        memcpy(ret_path, directory, length);
        if (length > 0)
                ret_path[length++] = '/';
        memcpy(ret_path + length, name, name_length + 1);
        return true;
}

/* Errors that say no more than "not in this directory". */
static bool goes_on_after(int error) {
        return error == -ENOENT || error == -ENOTDIR || error == -EACCES || error == -ESTALE || error == -ENODEV ||
               error == -ETIMEDOUT;
}

int launch_exec(char *const *argv, char *const *envp) {
        char path[PATH_MAX];
        int found = -ENOENT;

        if (!argv[0] || !*argv[0])
                return -ENOENT;
        if (strchr(argv[0], '/'))
                return exec_path(argv[0], argv, envp);
        for (const char *at = search_path(envp);; at++) {
                size_t length = strcspn(at, ":");
                if (join(at, length, argv[0], path)) {
                        int r = exec_path(path, argv, envp);
                        if (!goes_on_after(r))
                                return r;
                        if (r == -EACCES)
                                found = r;
                }
                at += length;
                if (!*at)
                        return found;
        }
}

/* "0" is whoever writes it. */
static int join_control_group(const char *directory) {
        char path[PATH_MAX];
        if (!join(directory, strlen(directory), "cgroup.procs", path))
                return -ENAMETOOLONG;
        _cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return write(fd, "0", 1) < 0 ? -errno : 0;
}

/* The failure pipe may have to make room for a descriptor of the plan; its number from here on. */
static int arrange_descriptors(const Launch *launch) {
        Descriptors descriptors = { .failure_fd = launch->failure_fd };
        ChildStep step = CHILD_STEP_NONE;

        int r = descriptors_open(launch->plan, &descriptors, &step);
        if (r >= 0)
                r = descriptors_place(launch->plan, &descriptors, &step);
        if (r < 0)
                fail(descriptors.failure_fd, step, -r);
        return descriptors.failure_fd;
}

static void apply_rights(const Launch *launch, int failure_fd) {
        ChildFailure failure;
        if (launch->limit && setrlimit(RLIMIT_NOFILE, launch->limit) < 0)
                fail(failure_fd, CHILD_STEP_LIMITS, errno);
        if (!launch->plan->rights)
                return;
        if (rights_apply(launch->plan->rights, &failure) < 0)
                fail_with(failure_fd, failure);
        /* The kernel forgets it when the user or the capabilities change. */
        int r = set_parent_death_signal(launch->plan->parent_death_signal, launch->parent);
        if (r < 0)
                fail(failure_fd, CHILD_STEP_SIGNALS, -r);
}

static void write_pid_words(char *const words[CHILD_PID_WORDS]) {
        for (int i = 0; i < CHILD_PID_WORDS; i++)
                if (words[i])
                        (void)snprintf(words[i], sizeof CHILD_PID_ROOM, "%d", (int)getpid());
}

static void make_listen(const Launch *launch) {
        size_t which;
        int r = launch->plan->listening ? listening_begin(launch->plan->listening, &which) : 0;
        if (r < 0)
                fail_with(launch->failure_fd, (ChildFailure){ .step = CHILD_STEP_LISTEN, .error = -r, .which = which });
}

/* The session comes first: from then on a signal to the group finds the child. Then the signals: what was sent since
 * the fork arrives. That is not left for the end, because what follows may wait for others (a FIFO without a reader, a
 * directory on a dead network), and a child that waits must still end when it is asked. The directory comes after the
 * user, who must be able to enter it. */
_Noreturn void launch(const Launch *launch) {
        const ChildPlan *plan = launch->plan;

        if (launch->greets)
                tell(launch->failure_fd, (ChildFailure){ .step = CHILD_STEP_NONE });
        int r = enter_session(plan->session);
        if (r < 0)
                fail(launch->failure_fd, CHILD_STEP_SESSION, -r);
        r = set_parent_death_signal(plan->parent_death_signal, launch->parent);
        if (r >= 0)
                r = signals_reset_for_child(launch->cleared);
        if (r < 0)
                fail(launch->failure_fd, CHILD_STEP_SIGNALS, -r);
        if (launch->joins)
                r = join_control_group(plan->control_group);
        if (r < 0)
                tell(launch->failure_fd, (ChildFailure){ .step = CHILD_STEP_CONTROL_GROUP, .error = -r });
        make_listen(launch); /* while all descriptors are there, and all rights */
        int failure_fd = arrange_descriptors(launch);
        apply_rights(launch, failure_fd);
        if (plan->directory && chdir(plan->directory) < 0)
                fail(failure_fd, CHILD_STEP_DIRECTORY, errno);
        write_pid_words(plan->pid_words);
        fail(failure_fd, CHILD_STEP_EXEC, -launch_exec(plan->argv, plan->envp));
}
