/* witness.c - the child of the process tests: tells what it was given, or makes the descendants that a test needs.
 *
 *   report              one line a fact: fds, pid, sid, pgid, foreground, nofile, cwd
 *   orphans N           N double-forked processes; the i-th exits with i % 7
 *   tree                a plain child, one in its own session, a double-forked one and one of a thread; their pids on
 *                       descriptor 1, then it stays
 *   named NAME          takes that name, says "ready", stays
 *   children N          N children that stay, says "ready", stays */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void report(void) {
        struct rlimit limit;
        char directory[4096];
        printf("fds");
        for (int fd = 0; fd < 4096; fd++)
                if (fcntl(fd, F_GETFD) >= 0)
                        printf(" %d", fd);
        getrlimit(RLIMIT_NOFILE, &limit);
        printf("\npid %d\nsid %d\npgid %d\nforeground %d\nnofile %llu\ncwd %s\n", (int)getpid(), (int)getsid(0),
               (int)getpgrp(), (int)tcgetpgrp(0), (unsigned long long)limit.rlim_cur,
               getcwd(directory, sizeof directory) ? directory : "?");
}

static void orphans(int n) {
        for (int i = 0; i < n; i++) {
                pid_t pid = fork();
                if (pid == 0)
                        _exit(fork() == 0 ? i % 7 : 0); /* the grandchild, and the child, end here */
                if (pid < 0 || waitpid(pid, NULL, 0) != pid)
                        exit(9);
        }
}

static void stay(void) {
        for (;;)
                pause();
}

static void say_pid(char letter) {
        char line[32];
        int n = snprintf(line, sizeof line, "%c %d\n", letter, (int)getpid());
        if (write(1, line, (size_t)n) != n)
                _exit(9);
        stay();
}

static void *fork_in_thread(void *unused) {
        (void)unused;
        if (fork() == 0)
                say_pid('t');
        stay();
        return NULL;
}

static void tree(void) {
        pthread_t thread;
        pid_t between;
        if (fork() == 0)
                say_pid('p');
        if (fork() == 0) {
                setsid();
                say_pid('s');
        }
        /* The one between ends at once, so its child becomes that of the subreaper: us, where the test asks for it. */
        between = fork();
        if (between == 0) {
                if (fork() == 0)
                        say_pid('d');
                _exit(0);
        }
        waitpid(between, NULL, 0);
        pthread_create(&thread, NULL, fork_in_thread, NULL);
        stay();
}

static void children(int n) {
        for (int i = 0; i < n; i++)
                if (fork() == 0)
                        stay();
}

int main(int argc, char **argv) {
        const char *verb = argc > 1 ? argv[1] : "", *word = argc > 2 ? argv[2] : "0";
        if (strcmp(verb, "report") == 0) {
                report();
                return 0;
        }
        if (strcmp(verb, "orphans") == 0) {
                orphans(atoi(word));
                return 0;
        }
        if (strcmp(verb, "tree") == 0)
                tree();
        else if (strcmp(verb, "named") == 0)
                prctl(PR_SET_NAME, word);
        else if (strcmp(verb, "children") == 0)
                children(atoi(word));
        else
                return 64;
        if (write(1, "ready\n", 6) != 6)
                return 9;
        stay();
}
