/* plan_json.c - see plan_json.h. */
#include "verify/plan_json.h"
#include "verify/texts.h"
#include "verify/texts_json.h"
#include <errno.h>
#include <stdlib.h>

/* ---- Writing ---- */

static json_t *groups_to_json(const Command *command) {
        json_t *array = json_array();

        for (size_t i = 0; array && i < command->n_groups; i++)
                json_array_append_new(array, json_integer(command->groups[i]));
        return array;
}

static json_t *command_to_json(const Command *command) {
        if (!command->argv)
                return json_null();
        return json_pack("{s:o,s:o,s:o,s:I,s:I,s:o,s:b,s:I}", "argv", texts_to_json(command->argv), "envp",
                         texts_to_json(command->envp), "directory",
                         bytes_to_json(command->directory ? command->directory : "/"), "uid", (json_int_t)command->uid,
                         "gid", (json_int_t)command->gid, "groups", groups_to_json(command), "keep_identity",
                         command->keep_identity, "timeout", (json_int_t)command->timeout_usec);
}

int plan_to_json(const TracerPlan *plan, json_t **ret) {
        json_t *value = json_pack("{s:o,s:o,s:i,s:i,s:i}", "first", command_to_json(&plan->first), "second",
                                  command_to_json(&plan->second), "action", (int)plan->action, "before",
                                  (int)plan->before, "signal", plan->signal);

        if (!value)
                return -ENOMEM;
        *ret = value;
        return 0;
}

/* ---- Reading ---- */

static int groups_from_json(const json_t *value, gid_t **ret) {
        gid_t *groups = calloc(json_array_size(value) + 1, sizeof *groups);

        if (!groups)
                return -ENOMEM;
        for (size_t i = 0; i < json_array_size(value); i++)
                groups[i] = (gid_t)json_integer_value(json_array_get(value, i));
        *ret = groups;
        return 0;
}

static int command_from_json(const json_t *value, Command *command, char ***ret_argv, char ***ret_envp,
                             char **ret_directory, gid_t **ret_groups) {
        if (json_is_null(value))
                return 0;
        int r = texts_from_json(json_object_get(value, "argv"), ret_argv);
        if (r == 0)
                r = texts_from_json(json_object_get(value, "envp"), ret_envp);
        if (r == 0)
                r = bytes_from_json(json_object_get(value, "directory"), ret_directory);
        if (r == 0)
                r = groups_from_json(json_object_get(value, "groups"), ret_groups);
        if (r < 0)
                return r;
        *command = (Command){
                .argv = *ret_argv,
                .envp = *ret_envp,
                .directory = *ret_directory,
                .uid = (uid_t)json_integer_value(json_object_get(value, "uid")),
                .gid = (gid_t)json_integer_value(json_object_get(value, "gid")),
                .groups = *ret_groups,
                .n_groups = json_array_size(json_object_get(value, "groups")),
                .keep_identity = json_is_true(json_object_get(value, "keep_identity")),
                .timeout_usec = (usec_t)json_integer_value(json_object_get(value, "timeout")),
        };
        return command->argv[0] ? 0 : -EBADMSG;
}

int plan_from_json(const json_t *value, PlanRead *ret) {
        PlanRead read = { 0 };

        read.plan.action = (TracerAction)json_integer_value(json_object_get(value, "action"));
        read.plan.before = (unsigned)json_integer_value(json_object_get(value, "before"));
        read.plan.signal = (int)json_integer_value(json_object_get(value, "signal"));
        int r = command_from_json(json_object_get(value, "first"), &read.plan.first, &read.first_argv, &read.first_envp,
                                  &read.first_directory, &read.first_groups);
        if (r == 0)
                r = command_from_json(json_object_get(value, "second"), &read.plan.second, &read.second_argv,
                                      &read.second_envp, &read.second_directory, &read.second_groups);
        if (r == 0 && (!read.plan.first.argv || (unsigned)read.plan.action >= _TRACER_ACTION_MAX))
                r = -EBADMSG;
        if (r < 0) {
                plan_read_done(&read);
                return r;
        }
        *ret = read;
        return 0;
}

void plan_read_done(PlanRead *read) {
        texts_free(read->first_argv);
        texts_free(read->first_envp);
        texts_free(read->second_argv);
        texts_free(read->second_envp);
        free(read->first_directory);
        free(read->second_directory);
        free(read->first_groups);
        free(read->second_groups);
        *read = (PlanRead){ 0 };
}
