/* actor.c - takes the steps of the command line apart and runs them one after another. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "actor.h"

#define WORDS_MAX 128

/* `as NAME [LOG]`: with LOG also where to log, for a process that was started with no environment. */
static void step_as(char **words) {
        actor_log_name(words[0]);
        if (words[0] && words[1])
                actor_log_to(words[1]);
}

static void step_say(char **words) {
        actor_log(words[0] ? words[0] : "said", "%s", "");
}

static void step_print(char **words) {
        for (; *words; words++)
                if (dprintf(STDOUT_FILENO, "%s%s", *words, words[1] ? " " : "\n") < 0)
                        actor_die("printing");
}

static void step_sleep(char **words) {
        actor_wait_until(actor_now_usec() + (uint64_t)actor_number(words[0]) * 1000);
}

static void step_exit(char **words) {
        exit(words[0] ? (int)actor_number(words[0]) : 0);
}

static void step_die(char **words) {
        struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        signal((int)actor_number(words[0]), SIG_DFL);
        raise((int)actor_number(words[0]));
        actor_die("outliving its own signal");
}

static void step_kill(char **words) {
        pid_t pid = strcmp(words[0], "parent") == 0 ? getppid() : (pid_t)actor_number(words[0]);
        int failed = kill(pid, (int)actor_number(words[1]));
        actor_log("killed", ",\"pid\":%d,\"errno\":%d", (int)pid, failed < 0 ? errno : 0);
}

/* Blocks until the last writer of a FIFO has closed it: the test lets many actors go at one instant. */
static void step_eof(char **words) {
        char byte;
        int fd = open(words[0], O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                actor_die(words[0]);
        while (read(fd, &byte, 1) > 0)
                ;
        close(fd);
        actor_log("eof", "%s", "");
}

/* `attempts FILE N CODE`: counts its runs in FILE; the first N of them exit with CODE here. */
static void step_attempts(char **words) {
        struct stat status;
        int fd = open(words[0], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, "x", 1) != 1 || fstat(fd, &status) < 0)
                actor_die(words[0]);
        close(fd);
        actor_log("attempt", ",\"number\":%ld", (long)status.st_size);
        if (status.st_size <= actor_number(words[1]))
                exit((int)actor_number(words[2]));
}

static void step_write(char **words) {
        int fd = open(words[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0 || dprintf(fd, "%s", words[1] ? words[1] : "") < 0)
                actor_die(words[0]);
        close(fd);
}

/* `tell FILE`: the path of the notify socket, for another actor to send to. */
static void step_tell(char **words) {
        const char *socket = getenv("NOTIFY_SOCKET");
        step_write((char *[]){ words[0], (char *)(socket ? socket : ""), NULL });
}

static void step_report(char **words) {
        (void)words;
        actor_log_state();
}

static void step_exec(char **words) {
        execvp(words[0], words);
        actor_die(words[0]);
}

static const struct {
        const char *name;
        void (*run)(char **words);
} steps[] = {
        { "as", step_as },           { "attempts", step_attempts }, { "barrier", step_barrier },
        { "bomb", step_bomb },       { "collect", step_collect },   { "die", step_die },
        { "eof", step_eof },         { "exec", step_exec },         { "exit", step_exit },
        { "flood", step_flood },     { "kill", step_kill },         { "notify", step_notify },
        { "orphans", step_orphans }, { "print", step_print },       { "race", step_race },
        { "report", step_report },   { "say", step_say },           { "serve", step_serve },
        { "sleep", step_sleep },     { "spawn", step_spawn },       { "tell", step_tell },
        { "write", step_write },
};

static void run_step(char **words) {
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
                if (strcmp(words[0], steps[i].name) == 0) {
                        steps[i].run(words + 1);
                        return;
                }
        errno = EINVAL;
        actor_die(words[0]);
}

void actor_run(char **words, const char *separator) {
        while (*words) {
                char *step[WORDS_MAX + 1] = { NULL };
                for (size_t n = 0; *words && strcmp(*words, separator) != 0; words++) {
                        if (n == WORDS_MAX)
                                actor_die("too many words");
                        step[n++] = *words;
                }
                if (step[0])
                        run_step(step);
                if (*words)
                        words++;
        }
}

int main(int argc, char **argv) {
        actor_log_open();
        if (argc > 2 && strcmp(argv[1], "nest") == 0)
                step_nest(argv + 2); /* its commas are the nested program's */
        actor_run(argv + 1, ",");
        return 0;
}
