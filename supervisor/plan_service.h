/* plan_service.h - shows what a service has besides its place in the plans: user, sockets, probes, limits; for plan*.c
 * only.
 *
 * Nothing is shown in which a secret can stand: of a command its program, of a URL what is before the ?, of an
 * environment the number of variables. */
#pragma once
#include "base/json.h"
#include "supervisor/config.h"
#include <stdio.h>

/* A line for each, after so many blanks. */
void plan_print_service(const ServiceConfig *service, int indentation, FILE *out);
/* Its members, into the object that is open. */
void plan_put_service(Json *json, const ServiceConfig *service);
/* "POST http://balancer:80/drain?..." */
void plan_print_request(const HookConfig *hook, FILE *out);
/* Where the ledger's database is, and the reaper; nothing where there is none. */
void plan_print_database(const Config *config, FILE *out);
void plan_put_database(Json *json, const Config *config); /* "database", "reaper"; null */
void plan_print_gateway(const Config *config, FILE *out);
void plan_put_gateway(Json *json, const Config *config); /* "gateway"; null */
/* "method", "url", "user" */
void plan_put_hook(Json *json, const HookConfig *hook);
