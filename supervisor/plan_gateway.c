/* plan_gateway.c - shows where the gateway answers, and when it calls the container ready. */
#include "supervisor/plan.h"
#include "supervisor/plan_service.h"

void plan_print_gateway(const Config *config, FILE *out) {
        const GatewayConfig *gateway = &config->gateway;

        if (!gateway->listen)
                return;
        fprintf(out, "\ngateway:\n  http://%s, %s status page, ready when %s%s\n", gateway->listen,
                gateway->dashboard ? "with a" : "without a", gateway->ready_when ? "these are: " : "all services are",
                gateway->ready_when ? gateway->ready_when : "");
}

void plan_put_gateway(Json *json, const Config *config) {
        const GatewayConfig *gateway = &config->gateway;

        if (!gateway->listen) {
                json_put_null(json, "gateway");
                return;
        }
        json_open_object(json, "gateway");
        json_put_string(json, "listen", gateway->listen);
        json_put_bool(json, "dashboard", gateway->dashboard);
        json_put_string(json, "ready_when", gateway->ready_when ? gateway->ready_when : "all");
        json_close(json);
}
