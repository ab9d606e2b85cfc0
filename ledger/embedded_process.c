/* embedded_process.c - see embedded_process.h. */
#include "ledger/embedded_process.h"
#include "base/take.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_MSEC 2000

extern char **environ;

/* What is to be read, as a file: whoever reads it slowly, or not at all, makes nobody wait. */
static int open_input(const char *text) {
        if (!text)
                return open("/dev/null", O_RDONLY | O_CLOEXEC);
        int fd = memfd_create("input", MFD_CLOEXEC);
        size_t length = strlen(text);
        if (fd >= 0 && (write(fd, text, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) < 0))
                return close_fd(fd);
        return fd;
}

static int start(const EmbeddedRun *run, int input, int output, pid_t *ret_pid) {
        posix_spawn_file_actions_t actions;
        int error = posix_spawn_file_actions_init(&actions);

        if (error == 0)
                error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
        if (error == 0)
                error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (error == 0)
                error = posix_spawn(ret_pid, run->argv[0], &actions, NULL, run->argv, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
        return -error;
}

/* Until nobody has the other end any more: who daemonizes with our output would keep us, and none of these does. */
static void read_output(const EmbeddedRun *run, int fd) {
        char dropped[512];
        size_t used = 0;

        for (;;) {
                struct pollfd watched = { .fd = fd, .events = POLLIN };
                int r = poll(&watched, 1, TICK_MSEC);
                if (r == 0 && run->tick)
                        run->tick(run->userdata);
                if (r <= 0)
                        continue;
                bool fits = run->output && used + 1 < run->output_size;
                ssize_t n = read(fd, fits ? run->output + used : dropped,
                                 fits ? run->output_size - 1 - used : sizeof dropped);
                if (n <= 0)
                        break;
                used += fits ? (size_t)n : 0;
        }
        if (run->output)
                run->output[used] = '\0';
}

static int await(pid_t pid) {
        int status;

        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return -errno;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int embedded_run(const EmbeddedRun *run) {
        _cleanup_(closep) int input = open_input(run->input);
        int ends[2];
        pid_t pid;

        if (input < 0 || pipe2(ends, O_CLOEXEC) < 0)
                return -errno;
        int r = start(run, input, ends[1], &pid);
        close_fd(ends[1]);
        if (r == 0) {
                read_output(run, ends[0]);
                r = await(pid);
        }
        close_fd(ends[0]);
        return r;
}
