/* config_http.h - reads the request of an Http hook: METHOD URL; for config_*.c only.
 *
 * Pure but for malloc. What a problem says holds nothing of the URL: it may be a secret. */
#pragma once
#include "supervisor/config_problem.h"

/* *ret_url: http://HOST:PORT/PATH?QUERY. 0, -EINVAL, -ENOMEM. */
int http_parse(const char *text, char **ret_method, char **ret_url, Problem *problem);
