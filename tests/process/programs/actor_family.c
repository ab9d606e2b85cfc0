/* actor_family.c - makes descendants: kept, left behind as orphans, in sessions of their own, by the thousand. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"

typedef struct Spawn {
        bool twice, session, clear;
        long count;
        int ready[2]; /* closed by the child when it is where it shall be */
} Spawn;

static void become(const Spawn *spawn, char **words) {
        if (spawn->session && setsid() < 0)
                actor_die("setsid");
        if (spawn->clear) { /* /proc/PID/environ shows what exec gave, so only a fresh exec hides the owner */
                char *const none[] = { NULL };
                char *all[140] = { (char *)"actor", (char *)"as", (char *)"stranger", getenv("ACTOR_LOG"),
                                   (char *)"," };
                size_t n = 5;
                for (; *words && n < 138; words++)
                        all[n++] = strcmp(*words, "+") == 0 ? (char *)"," : *words;
                execve("/proc/self/exe", all, none);
                actor_die("exec of itself");
        }
        close(spawn->ready[0]);
        close(spawn->ready[1]);
        actor_run(words, "+");
        exit(0);
}

static void spawn_one(Spawn *spawn, char **words) {
        char byte;
        if (pipe2(spawn->ready, O_CLOEXEC) < 0)
                actor_die("pipe");
        pid_t child = fork();
        if (child < 0)
                actor_die("fork");
        if (child == 0) {
                pid_t grandchild = spawn->twice ? fork() : 0;
                if (grandchild != 0)
                        _exit(grandchild < 0);
                become(spawn, words);
        }
        close(spawn->ready[1]);
        if (spawn->twice)
                waitpid(child, NULL, 0);
        while (read(spawn->ready[0], &byte, 1) < 0 && errno == EINTR)
                ;
        close(spawn->ready[0]);
}

/* spawn [--double] [--setsid] [--clear-env] [--count N] STEP + STEP …: goes on when each is where it shall be. */
void step_spawn(char **words) {
        Spawn spawn = { .count = 1 };
        for (; *words && strncmp(*words, "--", 2) == 0; words++) {
                if (strcmp(*words, "--double") == 0)
                        spawn.twice = true;
                else if (strcmp(*words, "--setsid") == 0)
                        spawn.session = true;
                else if (strcmp(*words, "--clear-env") == 0)
                        spawn.clear = true;
                else if (strcmp(*words, "--count") == 0)
                        spawn.count = actor_number(*++words);
                else
                        actor_die(*words);
        }
        for (long i = 0; i < spawn.count; i++)
                spawn_one(&spawn, words);
}

static void leave_orphan(void) {
        pid_t child = fork();
        if (child < 0)
                actor_die("fork");
        if (child == 0) {
                pid_t orphan = fork();
                if (orphan < 0)
                        actor_die("fork");
                _exit(0);
        }
        waitpid(child, NULL, 0);
}

/* orphans N RATE: N double-forked orphans that exit at once, RATE a second (0: as fast as it goes). */
void step_orphans(char **words) {
        long count = actor_number(words[0]), rate = actor_number(words[1]);
        uint64_t begun = actor_now_usec();
        for (long i = 0; i < count; i++) {
                leave_orphan();
                if (rate > 0)
                        actor_wait_until(begun + (uint64_t)(i + 1) * 1000000 / (uint64_t)rate);
        }
        actor_log("orphans_left", ",\"count\":%ld", count);
}

/* race USEC: leaves an orphan that exits with 1 when it is let go, then waits USEC; the next step ends the main
 * process. */
void step_race(char **words) {
        int gate[2];
        char byte;
        if (pipe2(gate, O_CLOEXEC) < 0)
                actor_die("pipe");
        pid_t child = fork();
        if (child == 0) {
                if (fork() == 0) {
                        close(gate[1]);
                        while (read(gate[0], &byte, 1) < 0)
                                ;
                        _exit(1);
                }
                _exit(0);
        }
        waitpid(child, NULL, 0);
        close(gate[0]);
        close(gate[1]);
        actor_wait_until(actor_now_usec() + (uint64_t)actor_number(words[0]));
}

/* bomb: forks as fast as it may, in sessions of their own, and so does what it forks, for ever. Whoever kills one of
 * them makes room for the next. The process itself goes on with its next step. */
void step_bomb(char **words) {
        (void)words;
        pid_t first = fork();
        if (first < 0)
                actor_die("fork");
        while (first == 0)
                if (fork() == 0)
                        (void)setsid();
        actor_log("exploding", "%s", "");
}

/* nest PROGRAM …: a first process of a namespace with nothing in it: passes on nothing, collects everything. */
void step_nest(char **words) {
        pid_t child = fork(), ended;
        int status = 0;
        if (child == 0) {
                execvp(words[0], words);
                actor_die(words[0]);
        }
        while ((ended = waitpid(-1, &status, 0)) != child)
                if (ended < 0 && errno != EINTR)
                        actor_die("waiting");
        exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}
