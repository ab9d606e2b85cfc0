/* child_rights.c - what a child may do and use: its user, groups, limits, capabilities; and what it is refused. */
#include "errand.h"
#include "supervisor/rights.h"
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define USER   12345
#define GROUP  23456
#define BIT(n) (UINT64_C(1) << (n))

static char *const good[] = { (char *)"true", NULL };

static Outcome show(const Rights *rights, const char *path) {
        char *const argv[] = { (char *)"cat", (char *)path, NULL };
        ChildPlan plan = plan_of(argv);
        plan.rights = rights;
        Outcome outcome = run(plan, true);
        CHECK_EQUAL(outcome.executed, 0);
        CHECK_EQUAL(outcome.exit.si_status, 0);
        return outcome;
}

static Outcome status_with(const Rights *rights) {
        return show(rights, "/proc/self/status");
}

static void must_refuse(const Rights *rights, ChildStep step, int error) {
        ChildPlan plan = plan_of(good);
        plan.rights = rights;
        Outcome outcome = run(plan, false);
        CHECK_EQUAL(outcome.executed, 1);
        CHECK_EQUAL(outcome.failure.step, step);
        CHECK_EQUAL(outcome.failure.error, error);
        CHECK_EQUAL(outcome.exit.si_status, 125);
}

static uint64_t set_of(const Outcome *outcome, const char *name) {
        const char *at = strstr(outcome->output, name);
        CHECK(at);
        return strtoull(at + strlen(name), NULL, 16);
}

static Rights somebody(void) {
        Rights rights = RIGHTS_NONE;
        rights.uid = USER;
        rights.gid = GROUP;
        return rights;
}

static void a_user_and_its_groups_are_taken_in_every_sense(void) {
        gid_t groups[] = { 44, GROUP, 7 };
        Rights rights = somebody();
        rights.groups = groups;
        rights.n_groups = 3;
        rights.sets_groups = true;
        Outcome outcome = status_with(&rights);
        CHECK(strstr(outcome.output, "\nUid:\t12345\t12345\t12345\t12345\n"));
        CHECK(strstr(outcome.output, "\nGid:\t23456\t23456\t23456\t23456\n"));
        CHECK(strstr(outcome.output, "\nGroups:\t7 44 23456 \n"));
        CHECK_EQUAL(set_of(&outcome, "\nCapPrm:"), 0);
        CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), 0);
        rights.n_groups = 0;
        outcome = status_with(&rights);
        CHECK(strstr(outcome.output, "\nGroups:\t \n"));
}

static void without_rights_everything_is_as_we_have_it(void) {
        Outcome ours = status_with(NULL), same = status_with(&RIGHTS_NONE);
        const char *const lines[] = { "\nUid:",    "\nGid:",    "\nGroups:",     "\nCapInh:", "\nCapPrm:",
                                      "\nCapBnd:", "\nCapAmb:", "\nNoNewPrivs:", "\nUmask:" };
        for (size_t i = 0; i < LENGTH_OF(lines); i++) {
                const char *a = strstr(ours.output, lines[i]), *b = strstr(same.output, lines[i]);
                CHECK(a && b && strcspn(a + 1, "\n") == strcspn(b + 1, "\n"));
                CHECK(strncmp(a, b, strcspn(a + 1, "\n")) == 0);
        }
}

static void the_score_goes_before_the_user_who_may_not_set_it(void) {
        Rights rights = somebody();
        rights.sets_oom_score = true;
        rights.oom_score = 321;
        CHECK(strcmp(show(&rights, "/proc/self/oom_score_adj").output, "321\n") == 0);
}

static void the_scheduling_goes_before_the_user_who_may_not_raise_it(void) {
        char *const argv[] = { (char *)"nice", NULL };
        Rights rights = somebody();
        ChildPlan plan = plan_of(argv);
        plan.rights = &rights;
        rights.sets_nice = true;
        rights.nice = 7;
        CHECK(strcmp(run(plan, true).output, "7\n") == 0);
        rights.nice = -3;
        CHECK(strcmp(run(plan, true).output, "-3\n") == 0);
}

static void the_umask_is_set_and_zero_is_one(void) {
        Rights rights = RIGHTS_NONE;
        rights.umask = 0;
        CHECK(strstr(status_with(&rights).output, "\nUmask:\t0000\n"));
        rights.umask = 0137;
        CHECK(strstr(status_with(&rights).output, "\nUmask:\t0137\n"));
}

static void a_limit_of_descriptors_replaces_the_one_that_we_were_given(void) {
        RightsLimit limit = { .resource = RLIMIT_NOFILE, .limit = { .rlim_cur = 77, .rlim_max = 99 } };
        Rights rights = RIGHTS_NONE;
        struct rlimit given = { .rlim_cur = 55, .rlim_max = 20000 };
        CHECK(getrlimit(RLIMIT_NOFILE, &given) == 0);
        given.rlim_cur = 55;
        CHECK(setrlimit(RLIMIT_NOFILE, &given) == 0);
        child_setup_limits();
        Outcome outcome = report(plan_of(NULL));
        CHECK_EQUAL(fact(&outcome, "\nnofile "), 55);
        rights.limits = &limit;
        rights.n_limits = 1;
        ChildPlan plan = plan_of(NULL);
        plan.rights = &rights;
        outcome = report(plan);
        CHECK_EQUAL(fact(&outcome, "\nnofile "), 77);
}

/* As a helper that is nobody: what it may not do must not depend on what root may do here. */
static void as_nobody(void (*what)(void)) {
        pid_t helper = fork();
        if (helper == 0) {
                gid_t groups[] = { 7, 44 };
                CHECK(setgroups(2, groups) == 0 && setresgid(GROUP, GROUP, GROUP) == 0);
                CHECK(setresuid(USER, USER, USER) == 0);
                CHECK(prctl(PR_SET_DUMPABLE, 1L, 0L, 0L, 0L) == 0); /* as after an exec */
                what();
                _exit(0);
        }
        wait_for_helper(helper);
}

static void refuse_limits(void) {
        struct rlimit hard;
        CHECK(getrlimit(RLIMIT_NPROC, &hard) == 0);
        hard.rlim_cur = hard.rlim_max = 1000;
        CHECK(setrlimit(RLIMIT_NPROC, &hard) == 0);
        RightsLimit limits[] = { { .resource = RLIMIT_CORE, .limit = { 0, 0 } },
                                 { .resource = RLIMIT_NPROC, .limit = { 1000, 1001 } } };
        Rights rights = RIGHTS_NONE;
        rights.limits = limits;
        rights.n_limits = 2;
        must_refuse(&rights, CHILD_STEP_LIMITS, EPERM);
        ChildPlan plan = plan_of(good);
        plan.rights = &rights;
        Outcome outcome = run(plan, false);
        CHECK(strcmp(child_failure_to_string(&outcome.failure), "LimitNPROC") == 0);
        limits[1].limit = (struct rlimit){ 1000, 1000 };
        CHECK_EQUAL(run(plan, false).executed, 0);
        limits[1] = (RightsLimit){ .resource = RLIMIT_CORE, .limit = { 2, 1 } };
        must_refuse(&rights, CHILD_STEP_LIMITS, EINVAL);
}

static void a_limit_that_cannot_be_had_is_named(void) {
        as_nobody(refuse_limits);
        ChildFailure unknown = { .step = CHILD_STEP_LIMITS };
        CHECK(strcmp(child_failure_to_string(&unknown), "limits") == 0);
        unknown = (ChildFailure){ .step = CHILD_STEP_LIMITS, .which = 1000 };
        CHECK(strcmp(child_failure_to_string(&unknown), "limits") == 0);
        unknown = (ChildFailure){ .step = CHILD_STEP_USER, .which = 3 };
        CHECK(strcmp(child_failure_to_string(&unknown), "user") == 0);
}

static void be_ourselves(void) {
        gid_t ours[] = { 44, 7 }, with_main[] = { GROUP, 7, 44 }, other[] = { 7, 45 }, fewer[] = { 7 };
        Rights rights = somebody();
        rights.sets_groups = true;
        rights.groups = ours;
        rights.n_groups = 2;
        CHECK(strstr(status_with(&rights).output, "\nGroups:\t7 44 \n"));
        rights.groups = with_main;
        rights.n_groups = 3;
        CHECK(strstr(status_with(&rights).output, "\nGroups:\t7 44 \n"));
        rights.groups = other;
        rights.n_groups = 2;
        must_refuse(&rights, CHILD_STEP_GROUPS, EPERM);
        rights.groups = fewer;
        rights.n_groups = 1;
        must_refuse(&rights, CHILD_STEP_GROUPS, EPERM);
        rights.n_groups = 0;
        must_refuse(&rights, CHILD_STEP_GROUPS, EPERM);
}

static void refuse_others(void) {
        Rights rights = RIGHTS_NONE;
        rights.uid = USER + 1;
        must_refuse(&rights, CHILD_STEP_USER, EPERM);
        rights = RIGHTS_NONE;
        rights.gid = GROUP + 1;
        must_refuse(&rights, CHILD_STEP_GROUPS, EPERM);
        rights = RIGHTS_NONE;
        rights.sets_nice = true;
        rights.nice = -5;
        must_refuse(&rights, CHILD_STEP_NICE, EACCES);
        rights = RIGHTS_NONE;
        rights.sets_oom_score = true;
        rights.oom_score = -500;
        must_refuse(&rights, CHILD_STEP_OOM_SCORE, EACCES);
        rights = RIGHTS_NONE;
        rights.ambient = BIT(CAP_NET_BIND_SERVICE);
        must_refuse(&rights, CHILD_STEP_CAPABILITIES, EPERM);
        rights = RIGHTS_NONE;
        rights.sets_bounding = true;
        must_refuse(&rights, CHILD_STEP_CAPABILITIES, EPERM);
}

static void do_what_needs_nothing(void) {
        RightsLimit limit = { .resource = RLIMIT_CORE, .limit = { 0, 0 } };
        Rights rights = somebody();
        rights.limits = &limit;
        rights.n_limits = 1;
        rights.umask = 027;
        rights.sets_nice = rights.sets_oom_score = rights.no_new_privileges = true;
        rights.nice = 3;
        rights.oom_score = 100;
        rights.sets_bounding = true;
        rights.bounding = UINT64_MAX;
        Outcome outcome = status_with(&rights);
        CHECK(strstr(outcome.output, "\nUmask:\t0027\n") && strstr(outcome.output, "\nNoNewPrivs:\t1\n"));
        CHECK(strcmp(show(&rights, "/proc/self/oom_score_adj").output, "100\n") == 0);
}

static void an_unprivileged_endwell_may_name_its_own_user_and_groups(void) {
        as_nobody(be_ourselves);
}

static void what_an_unprivileged_endwell_may_not_do_is_said_by_its_step(void) {
        as_nobody(refuse_others);
}

static void what_needs_no_privilege_works_without_any(void) {
        as_nobody(do_what_needs_nothing);
}

static void what_is_not_in_the_bounding_set_never_comes_back(void) {
        const uint64_t kept = BIT(CAP_CHOWN) | BIT(CAP_KILL) | BIT(CAP_AUDIT_READ);
        Rights rights = RIGHTS_NONE;
        rights.sets_bounding = true;
        rights.bounding = kept;
        Outcome outcome = status_with(&rights);
        CHECK_EQUAL(set_of(&outcome, "\nCapBnd:"), kept);
        CHECK_EQUAL(set_of(&outcome, "\nCapPrm:"), kept);
        CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), kept);
        rights.bounding = 0;
        outcome = status_with(&rights);
        CHECK_EQUAL(set_of(&outcome, "\nCapBnd:"), 0);
        CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), 0);
}

static void be_inheritable(uint64_t wanted) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct half[2];
        CHECK(syscall(SYS_capget, &header, half) == 0);
        half[0].inheritable = (uint32_t)wanted;
        half[1].inheritable = (uint32_t)(wanted >> 32);
        CHECK(syscall(SYS_capset, &header, half) == 0);
}

/* Older container runtimes start everything with a full inheritable set. */
static void what_we_were_given_as_inheritable_is_no_way_around_the_bounding_set(void) {
        pid_t helper = fork();
        if (helper == 0) {
                Rights rights = RIGHTS_NONE;
                be_inheritable(BIT(CAP_CHOWN) | BIT(CAP_SYS_ADMIN) | BIT(CAP_AUDIT_READ));
                Outcome outcome = status_with(&rights);
                CHECK(set_of(&outcome, "\nCapInh:") & BIT(CAP_SYS_ADMIN));
                rights.sets_bounding = true;
                rights.bounding = BIT(CAP_CHOWN);
                outcome = status_with(&rights);
                CHECK_EQUAL(set_of(&outcome, "\nCapInh:"), BIT(CAP_CHOWN));
                CHECK_EQUAL(set_of(&outcome, "\nCapPrm:"), BIT(CAP_CHOWN));
                _exit(0);
        }
        wait_for_helper(helper);
}

static void another_user_has_the_ambient_capabilities_that_it_was_given_and_no_more(void) {
        const uint64_t given = BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_AUDIT_READ);
        Rights rights = somebody();
        rights.ambient = given;
        Outcome outcome = status_with(&rights);
        CHECK_EQUAL(set_of(&outcome, "\nCapAmb:"), given);
        CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), given);
        CHECK_EQUAL(set_of(&outcome, "\nCapPrm:"), given);
        CHECK_EQUAL(set_of(&outcome, "\nCapInh:"), given);
        rights.sets_bounding = true;
        rights.bounding = given;
        outcome = status_with(&rights);
        CHECK_EQUAL(set_of(&outcome, "\nCapBnd:"), given);
        CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), given);
        rights.bounding = BIT(CAP_NET_BIND_SERVICE);
        must_refuse(&rights, CHILD_STEP_CAPABILITIES, EPERM);
}

static void root_may_have_ambient_capabilities_too(void) {
        Rights rights = RIGHTS_NONE;
        rights.ambient = BIT(CAP_NET_RAW);
        Outcome outcome = status_with(&rights);
        CHECK_EQUAL(set_of(&outcome, "\nCapAmb:"), BIT(CAP_NET_RAW));
}

/* A container that runs as a user may still have been given capabilities: the ambient ones. */
static void be_a_user_with_setuid(void) {
        const uint64_t own = BIT(CAP_SETUID) | BIT(CAP_SETGID);
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct half[2] = { { (uint32_t)own, (uint32_t)own, (uint32_t)own } };
        CHECK(prctl(PR_SET_KEEPCAPS, 1L, 0L, 0L, 0L) == 0 && setresuid(USER, USER, USER) == 0);
        CHECK(syscall(SYS_capset, &header, half) == 0);
        CHECK(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, (unsigned long)CAP_SETUID, 0L, 0L) == 0);
        CHECK(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, (unsigned long)CAP_SETGID, 0L, 0L) == 0);
}

static void our_own_ambient_capabilities_stay_with_our_own_user(void) {
        pid_t helper = fork();
        if (helper == 0) {
                Rights rights = RIGHTS_NONE;
                be_a_user_with_setuid();
                Outcome outcome = status_with(&rights);
                CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), BIT(CAP_SETUID) | BIT(CAP_SETGID));
                rights.uid = USER;
                outcome = status_with(&rights);
                CHECK_EQUAL(set_of(&outcome, "\nCapAmb:"), BIT(CAP_SETUID) | BIT(CAP_SETGID));
                rights.uid = USER + 1;
                outcome = status_with(&rights);
                CHECK(strstr(outcome.output, "\nUid:\t12346\t12346\t12346\t12346\n"));
                CHECK_EQUAL(set_of(&outcome, "\nCapAmb:"), 0);
                CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), 0);
                CHECK_EQUAL(set_of(&outcome, "\nCapPrm:"), 0);
                rights.ambient = BIT(CAP_SETGID);
                outcome = status_with(&rights);
                CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), BIT(CAP_SETGID));
                _exit(0);
        }
        wait_for_helper(helper);
}

static void no_new_privileges_is_the_last_word(void) {
        Rights rights = somebody();
        rights.no_new_privileges = true;
        rights.ambient = BIT(CAP_NET_RAW);
        Outcome outcome = status_with(&rights);
        CHECK(strstr(outcome.output, "\nNoNewPrivs:\t1\n"));
        CHECK_EQUAL(set_of(&outcome, "\nCapEff:"), BIT(CAP_NET_RAW));
}

static void the_user_must_be_able_to_enter_its_directory(void) {
        char *const argv[] = { (char *)"pwd", NULL };
        Rights rights = somebody();
        ChildPlan plan = plan_of(argv);
        CHECK(mkdir("private", 0700) == 0);
        plan.rights = &rights;
        plan.directory = "private";
        Outcome outcome = run(plan, false);
        CHECK_EQUAL(outcome.failure.step, CHILD_STEP_DIRECTORY);
        CHECK_EQUAL(outcome.failure.error, EACCES);
        CHECK_EQUAL(outcome.exit.si_status, 125);
        CHECK(chmod(".", 0711) == 0 && chown("private", USER, USER) == 0);
        outcome = run(plan, true);
        CHECK_EQUAL(outcome.executed, 0);
        CHECK(strstr(outcome.output, "/private\n"));
}

static void a_child_of_another_user_hears_of_its_parents_death(void) {
        char *const argv[] = { (char *)"sleep", (char *)"1000", NULL };
        siginfo_t info;
        pid_t helper = fork();
        if (helper == 0) {
                Rights rights = somebody();
                ChildPlan plan = plan_of(argv);
                ChildFailure failure;
                int failure_fd;
                pid_t pid;
                plan.rights = &rights;
                plan.parent_death_signal = SIGUSR2;
                CHECK_EQUAL(child_spawn(&plan, &pid, &failure_fd), 0);
                CHECK_EQUAL(wait_for_exec(failure_fd, &failure), 0);
                _exit(0);
        }
        wait_for_helper(helper);
        CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0);
        CHECK_EQUAL(info.si_status, SIGUSR2);
}

int main(int argc, char **argv) {
        static const Case cases[] = {
                CASE(a_user_and_its_groups_are_taken_in_every_sense),
                CASE(without_rights_everything_is_as_we_have_it),
                CASE(the_score_goes_before_the_user_who_may_not_set_it),
                CASE(the_scheduling_goes_before_the_user_who_may_not_raise_it),
                CASE(the_umask_is_set_and_zero_is_one),
                CASE(a_limit_that_cannot_be_had_is_named),
                CASE(an_unprivileged_endwell_may_name_its_own_user_and_groups),
                CASE(what_an_unprivileged_endwell_may_not_do_is_said_by_its_step),
                CASE(what_needs_no_privilege_works_without_any),
                CASE(what_is_not_in_the_bounding_set_never_comes_back),
                CASE(what_we_were_given_as_inheritable_is_no_way_around_the_bounding_set),
                CASE(another_user_has_the_ambient_capabilities_that_it_was_given_and_no_more),
                CASE(root_may_have_ambient_capabilities_too),
                CASE(our_own_ambient_capabilities_stay_with_our_own_user),
                CASE(no_new_privileges_is_the_last_word),
                CASE(the_user_must_be_able_to_enter_its_directory),
                CASE(a_child_of_another_user_hears_of_its_parents_death),
                CASE(a_limit_of_descriptors_replaces_the_one_that_we_were_given),
        };
        return run_errands(argc, argv, cases, LENGTH_OF(cases));
}
