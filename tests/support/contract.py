"""The verbs of the ledger as its contract has them: names, types and defaults of their arguments, and what they return."""
import re

TEXT = """
enqueue(queue text, kind text='', payload json=NULL, dedup text=NULL, run_at timestamptz=NULL, priority int=0,
        concurrency_key text=NULL, max_attempts int=NULL, notify bool=false, delay interval=NULL)
    -> id bigint, created bool, status text
enqueue_many(queue text, kind text, payloads json[]) -> bigint
worker_up(host text='', pid int=NULL, supervisor uuid=NULL, id uuid=RANDOM) -> uuid
claim(queue text, worker uuid, n int=1, after_priority int=NULL, after_run_at timestamptz=NULL, after_id bigint=NULL)
    -> id bigint, gen bigint, claim_id uuid, attempt int, max_attempts int, kind text, payload json, progress json,
       lease_ms int, deadline_at timestamptz
claim_job(id bigint, worker uuid)
    -> verdict text, gen bigint, claim_id uuid, attempt int, payload json, progress json, lease_ms int,
       deadline_at timestamptz, holder uuid, since timestamptz, silent interval, lease_left interval
claim_next(queue text, worker uuid, n int, ids bigint[]='{}', gens bigint[]='{}', claims uuid[]='{}')
    -> tag text, id bigint, gen bigint, claim_id uuid, attempt int, max_attempts int, kind text, payload json,
       progress json, lease_ms int, deadline_at timestamptz
beat(id bigint, gen bigint, claim uuid, progress json=NULL) -> text
beat_many(ids bigint[], gens bigint[], claims uuid[]) -> id bigint, verdict text
lease_left(id bigint, gen bigint, claim uuid) -> interval
hold(id bigint, gen bigint, claim uuid) -> void
item_begin(id bigint, gen bigint, claim uuid, key text, force bool=NULL) -> text
item_end(id bigint, gen bigint, claim uuid, key text, ok bool, result json=NULL, error text=NULL) -> text
item_settle(id bigint, key text, state text, by text) -> text
complete(id bigint, gen bigint, claim uuid, result json=NULL) -> text
complete_many(ids bigint[], gens bigint[], claims uuid[], results json[]=NULL) -> id bigint, verdict text
fail(id bigint, gen bigint, claim uuid, error text, class text='error', retry_in interval=NULL, fatal bool=false,
     died bool=false) -> text
release(id bigint, gen bigint, claim uuid, note text=NULL) -> text
snooze(id bigint, gen bigint, claim uuid, delay interval, note text=NULL) -> text
worker_drain(worker uuid, wait_ms int=500) -> bigint
worker_dead(worker uuid, cause text='crashed', note text=NULL) -> id bigint, gen bigint, verdict text
reap(n int=500) -> id bigint, gen bigint, verdict text
look(id bigint)
    -> status text, gen bigint, attempts int, max_attempts int, deaths int, releases int, silent interval,
       error_class text, last_error text, progress json, result json
cancel(id bigint) -> text
retry(ids bigint[], by text) -> id bigint, answer text
discard(ids bigint[], by text) -> id bigint, answer text
prune(n int=5000, older interval='7 days') -> bigint
dead(of_queue text=NULL, after bigint=0, n int=100)
    -> id bigint, queue text, kind text, attempts int, deaths int, total_attempts int, error_class text, last_error text,
       since timestamptz
culprits(since interval='24 hours')
    -> queue text, kind text, error_class text, failures bigint, distinct_jobs bigint, jobs bigint[],
       first_at timestamptz, last_at timestamptz
stats() -> queue text, ready bigint, scheduled bigint, running bigint, expired bigint, dead bigint, oldest_due interval
"""

# As the catalogue spells them.
TYPES = {"int": "integer", "bool": "boolean", "timestamptz": "timestamp with time zone"}


def catalogued(kind):
    bare = kind.removesuffix("[]")
    return TYPES.get(bare, bare) + kind[len(bare):]


class Verb:
    def __init__(self, name, arguments, returns):
        self.name, self.arguments, self.defaults, self.columns = name, {}, {}, {}
        for one in filter(None, (one.strip() for one in arguments.split(","))):
            declared, has, default = one.partition("=")
            argument, kind = declared.split()
            self.arguments[argument] = catalogued(kind)
            if has:
                self.defaults[argument] = default
        words = [one.split() for one in returns.split(",")]
        self.scalar = catalogued(words[0][0]) if len(words[0]) == 1 else None
        if not self.scalar:
            self.columns = {name: catalogued(kind) for name, kind in words}


VERBS = {name: Verb(name, arguments, returns) for name, arguments, returns in
         re.findall(r"^(\w+)\((.*?)\)\s*->\s*(.*?)(?=^\w|\Z)", TEXT, re.MULTILINE | re.DOTALL)}
