"""How the ledger's statements are carried out: their plans, the nested ones included, and the buffers that they touch."""
import json

PLANS = """load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
    set auto_explain.log_format = json; set auto_explain.log_level = notice; set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off; set plan_cache_mode = force_generic_plan; set client_min_messages = notice"""


def nodes(plan):
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes(child)


class Planner:
    """A session that writes down the plan of each statement that its calls lead to."""

    def __init__(self, session):
        self.session = session
        session.rows(PLANS)

    def plans(self, work):
        notices = self.session.connection.notices
        notices.clear()
        work(self.session)
        return [json.loads(one[one.index("{"):]) for one in notices if "plan:" in one]

    def scans(self, work, schema):
        """(kind, relation, rows that were looked at) of each node that reads a table of the ledger."""
        found = []
        for plan in self.plans(work):
            for node in nodes(plan["Plan"]):
                if node.get("Relation Name") and node.get("Schema", schema) == schema:
                    seen = (node.get("Actual Rows", 0) + node.get("Rows Removed by Filter", 0)) * node.get("Actual Loops", 1)
                    found.append((node["Node Type"], node["Relation Name"], seen))
        return found


def buffers(session, sql, *values):
    """Blocks that the statement touched, with all that its functions did."""
    found = session.value(f"explain (analyze, buffers, timing off, format json) {sql}", *values)
    plan = json.loads(found)[0]["Plan"] if isinstance(found, str) else found[0]["Plan"]
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
