/* database_internal.h - what database.c (the environment) and database_file.c (a configuration) share; for nobody else.
 */
#pragma once
#include "ledger/database.h"
#include <stdbool.h>

/* Each: 0; -EINVAL and a sentence without a word of a URL; -ENOMEM. */
int database_set(char **field, const char *text);
int database_set_schema(Database *database, const char *name, char ret_problem[static DATABASE_PROBLEM_MAX]);
int database_judge_url(const char *url, const char *name, char ret_problem[static DATABASE_PROBLEM_MAX]);
int database_read_url_file(const char *path, char **ret_url, char ret_problem[static DATABASE_PROBLEM_MAX]);
int database_take_environment(Database *database, bool with_url, char ret_problem[static DATABASE_PROBLEM_MAX]);
