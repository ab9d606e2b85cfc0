/* test_programs.c - which commands are known, and for what. */
#include "base/take.h"
#include "base/words.h"
#include "supervisor/programs.h"
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static char **split(const char *text) {
        char **words;
        size_t n;
        const char *problem;
        cr_assert_eq(words_split(text, &words, &n, &problem), 0, "%s", text);
        cr_assert_gt(n, 0);
        return words;
}

Test(programs, each_that_ends_well_by_another_signal_is_known_wherever_it_is) {
        static const struct {
                const char *path;
                int number;
        } rows[] = {
                { "nginx", SIGQUIT },
                { "/usr/sbin/nginx", SIGQUIT },
                { "openresty", SIGQUIT },
                { "php-fpm", SIGQUIT },
                { "php-fpm8.2", SIGQUIT },
                { "/usr/sbin/php-fpm7.4", SIGQUIT },
                { "postgres", SIGINT },
                { "/usr/lib/postgresql/15/bin/postgres", SIGINT },
                { "postmaster", SIGINT },
                { "haproxy", SIGUSR1 },
                { "haproxy-2.6", SIGUSR1 },
                { "httpd", SIGWINCH },
                { "apache2", SIGWINCH },
                { "apache2-foreground", SIGWINCH },
                { "httpd-foreground", SIGWINCH },
                { "unicorn", SIGQUIT },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                const KnownProgram *program = program_known(rows[i].path);
                cr_assert_not_null(program, "%s", rows[i].path);
                cr_expect_eq(program->graceful_signal, rows[i].number, "%s", rows[i].path);
                cr_expect_not_null(program->why, "%s", rows[i].path);
        }
}

Test(programs, what_only_looks_like_one_is_not_known) {
        static const char *const names[] = { "nginx-exporter",
                                             "nginx_status",
                                             "mynginx",
                                             "postgres_exporter",
                                             "postgres-backup",
                                             "httpdump",
                                             "haproxy-ctl",
                                             "redis-server",
                                             "node",
                                             "python3",
                                             "java",
                                             "mysqld",
                                             "php" };
        for (size_t i = 0; i < LENGTH_OF(names); i++)
                cr_expect_null(program_known(names[i]), "%s", names[i]);
}

Test(programs, what_stands_before_a_command_is_passed_over) {
        static const char *const rows[][2] = {
                { "nginx -g x", "nginx" },
                { "env nginx", "nginx" },
                { "env -i A=1 B=2 nginx", "nginx" },
                { "/usr/bin/env -u HOME A=1 nginx", "nginx" },
                { "env --unset=HOME nginx", "nginx" },
                { "nice nginx", "nginx" },
                { "nice -n 10 nginx", "nginx" },
                { "nice -10 nginx", "nginx" },
                { "nice --adjustment=5 nginx", "nginx" },
                { "setpriv --reuid=postgres --regid postgres --init-groups postgres -D /data", "postgres" },
                { "setpriv --reuid 1 --clear-groups --no-new-privs -- postgres", "postgres" },
                { "su-exec postgres postgres -D /x", "postgres" },
                { "gosu www-data:www-data php-fpm8.2 -F", "php-fpm8.2" },
                { "s6-setuidgid app haproxy", "haproxy" },
                { "chroot --userspec=1:1 /srv httpd", "httpd" },
                { "stdbuf -oL nginx", "nginx" },
                { "ionice -c2 -n 7 nginx", "nginx" },
                { "nohup env nice nginx", "nginx" },
                { "tini -- nginx", "nginx" },
                { "tini -g -p TERM -- nginx", "nginx" },
                { "dumb-init --rewrite 15:3 nginx", "nginx" },
                { "docker-entrypoint.sh postgres -c x=1", "postgres" },
                { "docker-php-entrypoint php-fpm", "php-fpm" },
                { "bundle exec unicorn -c x", "unicorn" },
                /* not for sure, or nothing behind it */
                { "bundle install", "bundle" },
                { "env", "env" },
                { "env -S 'nginx -g x'", "env" },
                { "nice -n", "nice" },
                { "gosu postgres", "gosu" },
                { "timeout 5 nginx", "timeout" },
                { "sudo nginx", "sudo" },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                char **words = split(rows[i][0]);
                cr_expect_str_eq(program_behind(words)[0], rows[i][1], "%s", rows[i][0]);
                free(words);
        }
}

Test(programs, an_init_before_a_command_is_told_from_what_becomes_it) {
        static const struct {
                const char *text;
                ProgramBefore before;
        } rows[] = {
                { "tini -- a", PROGRAM_BEFORE_INIT },   { "/sbin/docker-init -- a", PROGRAM_BEFORE_INIT },
                { "dumb-init a", PROGRAM_BEFORE_INIT }, { "catatonit -- a", PROGRAM_BEFORE_INIT },
                { "env a", PROGRAM_BEFORE_EXECS },      { "a", PROGRAM_BEFORE_NOTHING },
                { "tini", PROGRAM_BEFORE_NOTHING },
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++) {
                ProgramBefore before = _PROGRAM_BEFORE_MAX;
                char **words = split(rows[i].text);
                program_next(words, &before);
                cr_expect_eq(before, rows[i].before, "%s", rows[i].text);
                free(words);
        }
}

Test(programs, wrappers_that_swallow_are_told_from_their_other_uses) {
        static const char *const swallow[] = { "npm start",  "npm run serve",    "npm --prefix=/srv run x",
                                               "npx serve",  "yarn start",       "yarn run web",
                                               "pnpm start", "npm run-script x", "/usr/bin/npm exec x" };
        static const char *const fine[] = { "npm",
                                            "npm install",
                                            "npm ci",
                                            "yarn install",
                                            "yarn",
                                            "node server.js",
                                            "bundle exec puma",
                                            "pnpm install",
                                            "python -m npm start" };
        for (size_t i = 0; i < LENGTH_OF(swallow); i++) {
                char **words = split(swallow[i]);
                cr_expect_not_null(program_swallows(words), "%s", swallow[i]);
                free(words);
        }
        for (size_t i = 0; i < LENGTH_OF(fine); i++) {
                char **words = split(fine[i]);
                cr_expect_null(program_swallows(words), "%s", fine[i]);
                free(words);
        }
}

static bool is_daemon(const char *text) {
        char **words = split(text);
        ProgramDaemon daemon;
        bool is = program_is_daemon(words, &daemon);
        free(words);
        return is;
}

Test(programs, supervisors_are_known) {
        cr_expect(program_is_supervisor("/usr/bin/supervisord") && program_is_supervisor("s6-svscan"));
        cr_expect(!program_is_supervisor("supervisorctl") && !program_is_supervisor("s6-log"));
}

Test(programs, commands_that_go_to_the_background_are_known) {
        static const char *const rows[] = {
                "nginx",
                "nginx -c /x",
                "nginx -g 'worker_processes 2;'",
                "/usr/sbin/nginx",
                "httpd",
                "apache2 -k start",
                "redis-server --daemonize yes",
                "redis-server /etc/r.conf --daemonize yes --port 1",
                "haproxy -D -f x",
                "php-fpm8.2 -D",
                "php-fpm --daemonize",
                "memcached -d -m 64",
                "mongod --fork --dbpath /x",
                "gunicorn -D app",
                "gunicorn --daemon app",
                "uwsgi --daemonize=/x.log",
                "uwsgi --daemonize /x.log",
                "sshd",
                "/usr/sbin/sshd -e",
                "sshd -o LogLevel=DEBUG",
                "cron",
                "cron -L 15",
                "crond",
                "rsyslogd",
                "dnsmasq",
                "lighttpd -f /x",
                "varnishd -a :80",
                "pg_ctl start -D /x",
                "pg_ctl -D /x start",
                "pm2 start app.js",
                "caddy start",
                "apache2ctl start",
                "mysqld --daemonize",
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++)
                cr_expect(is_daemon(rows[i]), "%s", rows[i]);
}

Test(programs, and_those_that_stay_or_are_no_servers_are_not_taken_for_such) {
        static const char *const rows[] = {
                "nginx -g 'daemon off;'",
                "nginx -g 'pid /x; daemon off; user x;'",
                "nginx -t",
                "nginx -s reload",
                "nginx -V",
                "httpd -DFOREGROUND",
                "httpd -D FOREGROUND -f /x",
                "apache2 -X",
                "httpd -f -p 8080 -h /www",
                "apache2 -t",
                "redis-server",
                "redis-server --daemonize no",
                "redis-server --save yes",
                "haproxy -f x",
                "haproxy -W -db",
                "php-fpm",
                "php-fpm8.2 -F",
                "memcached -m 64",
                "mongod --dbpath /x",
                "gunicorn app",
                "uwsgi --http :80",
                "sshd -D",
                "sshd -De",
                "sshd -d",
                "cron -f",
                "cron -fL 15",
                "crond -f -l 2",
                "crond -n",
                "crond -d 8",
                "rsyslogd -n",
                "dnsmasq -k",
                "dnsmasq --keep-in-foreground",
                "lighttpd -D -f /x",
                "varnishd -F -a :80",
                "postgres -D /x",
                "pg_ctl stop",
                "pm2-runtime start app.js",
                "pm2 start --no-daemon app.js",
                "caddy run",
                "apache2ctl -D FOREGROUND",
                "mysqld",
                "node nginx",
                "dockerd",
                "nginx-exporter",
                "sshd-wrapper",
        };
        for (size_t i = 0; i < LENGTH_OF(rows); i++)
                cr_expect(!is_daemon(rows[i]), "%s", rows[i]);
}

Test(programs, nginx_may_say_otherwise_in_its_configuration) {
        ProgramDaemon daemon = { 0 };
        char **words = split("nginx -c /srv/n.conf");
        cr_assert(program_is_daemon(words, &daemon));
        cr_expect_str_eq(daemon.config, "/srv/n.conf");
        cr_expect_str_eq(daemon.config_has, "daemon off");
        free(words);
        words = split("nginx");
        cr_assert(program_is_daemon(words, &daemon));
        cr_expect_str_eq(daemon.config, "/etc/nginx/nginx.conf");
        free(words);
}

Test(programs, nobody_waits_for_a_builtin_or_a_tool) {
        static const char *const brief[] = { "echo", "wait", "exit", "rm", "true", "[", "sleep", ":" };
        static const char *const lasting[] = { "server", "node", "tail", "java", "", "remove" };
        for (size_t i = 0; i < LENGTH_OF(brief); i++)
                cr_expect(program_is_brief(brief[i]), "%s", brief[i]);
        for (size_t i = 0; i < LENGTH_OF(lasting); i++)
                cr_expect(!program_is_brief(lasting[i]), "%s", lasting[i]);
}
