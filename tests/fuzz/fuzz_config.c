/* fuzz_config.c - any bytes as a whole configuration: no crash, and what is accepted keeps the promises of config.h. */
#include "base/names.h"
#include "base/take.h"
#include "supervisor/plan.h"
#include "tests/fuzz/must.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void check_relation(const Config *config, const ServiceConfig *service, const Relation *relation) {
        must((relation->n == 0) == (relation->items == NULL));
        for (uint16_t i = 0; i < relation->n; i++) {
                must(relation->items[i] < config->n_services);
                must(config->services[relation->items[i]].phase == service->phase);
        }
}

static void check_rights(const Rights *rights) {
        must(rights->umask >= -1 && rights->umask <= 0777 && rights->n_limits <= RLIM_NLIMITS);
        must(!rights->sets_nice || (rights->nice >= -20 && rights->nice <= 19));
        must(!rights->sets_oom_score || (rights->oom_score >= -1000 && rights->oom_score <= 1000));
        must(!rights->sets_groups || rights->n_groups > 0);
        must(rights->uid == (uid_t)-1 || rights->user);
        must(!rights->sets_bounding || !(rights->ambient & ~rights->bounding));
        for (size_t i = 0; i < rights->n_limits; i++)
                must(rights->limits[i].limit.rlim_cur <= rights->limits[i].limit.rlim_max);
}

static void check_parts(const ServiceConfig *service) {
        int first = 3 + service->n_listens + service->descriptor_store_max;

        must((service->type == SERVICE_NOTIFY_FD) == (service->notify_fd >= 0));
        must(service->notify_fd < 0 || service->notify_fd >= first);
        must((service->n_listens == 0) == (service->listens == NULL));
        for (uint16_t i = 0; i < service->n_listens; i++)
                must(service->listens[i].address && service->listens[i].name);
        must(service->watchdog_usec >= 100 * USEC_PER_MSEC && service->reload_signal != service->kill_signal);
        must(!service->tty || service->instances == 1);
        must(!service->probes || service->type != SERVICE_ONESHOT);
        for (int kind = 0; service->probes && kind < _PROBE_KIND_MAX; kind++)
                must(service->probes[kind].by == PROBE_BY_NONE || service->probes[kind].failures > 0);
        for (char **name = service->inheritance ? service->inheritance->unset : NULL; name && *name; name++)
                for (char **word = service->environment; word && *word; word++)
                        must(strncmp(*word, *name, strlen(*name)) != 0 || (*word)[strlen(*name)] != '=');
        if (service->rights)
                check_rights(service->rights);
}

static void check_service(const Config *config, const ServiceConfig *service) {
        must(name_is_valid(service->name) && service->argv && service->argv[0] && service->argv[0][0]);
        must(service->phase < config->n_phases && service->instances >= 1 && service->instances <= INSTANCES_MAX);
        must(service->kill_signal > 0 && service->kill_signal <= 64 && service->drained_signal > 0);
        must(service->restart_usec <= service->restart_max_usec && service->timeout_start_usec > 0);
        must(service->depth >= 1 && (service->depth == 1) == (service_after(service)->n == 0));
        for (uint16_t i = 0; i < service_after(service)->n; i++)
                must(config->services[service_after(service)->items[i]].depth < service->depth);
        check_relation(config, service, service_after(service));
        check_relation(config, service, service_requires(service));
        check_relation(config, service, service_before(service));
        check_parts(service);
}

static void check_hook(const Config *config, const HookConfig *hook) {
        must((hook->argv != NULL) + (hook->url != NULL) + (hook->log_pattern != NULL) == 1);
        must((hook->url == NULL) == (hook->http_method == NULL));
        if (hook->rights)
                check_rights(hook->rights);
        must((hook->service >= 0) != (hook->phase >= 0) && hook->on < _HOOK_ON_MAX);
        must(hook->service < (int)config->n_services && hook->phase < (int)config->n_phases);
        must(hook->timeout_usec > 0 && hook->timeout_usec < USEC_UNSET);
}

static void check_config(const Config *config, FILE *nowhere) {
        size_t n_members = 0;

        must(config->n_phases >= 1 && config->n_phases <= PHASES_MAX && config->n_services >= 1);
        must(config->deadline_usec <= config->grace_usec && strlen(config->digest) == 16);
        for (unsigned i = 0; i < config->n_phases; i++)
                must(budget_limit(&config->budget, i) <= config->deadline_usec);
        for (size_t i = 0; i < config->n_services; i++) {
                check_service(config, &config->services[i]);
                n_members += config->services[i].instances;
        }
        must(n_members == config->n_members && n_members <= MEMBERS_MAX);
        for (size_t i = 0; i < config->n_hooks; i++)
                check_hook(config, &config->hooks[i]);
        must(plan_print(config, nowhere) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static FILE *nowhere;
        _cleanup_(closep) int fd = memfd_create("conf.ini", MFD_CLOEXEC);
        _cleanup_(complaints_freep) Complaints *complaints = NULL;
        _cleanup_(config_freep) Config *config = NULL;
        char path[64];

        if (!nowhere)
                nowhere = fopen("/dev/null", "we");
        must(nowhere && fd >= 0 && write(fd, data, size) == (ssize_t)size);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        must(complaints_new(&complaints) == 0);
        int r = config_load(path, "production", complaints, &config);
        must(r == 0 || r == -EBADMSG);
        must((r == 0) == (config != NULL) && (r == 0) == (complaints_count(complaints) == 0));
        if (config)
                check_config(config, nowhere);
        must(plan_print_json(config, NULL, complaints, nowhere) == 0);
        return 0;
}
