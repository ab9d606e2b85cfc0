"""A deploy under load: fifty-six slots are busy in the old container when it is told to end, and a successor takes over, each the
real endwell with a namespace of its own. Whatever the instant: each job has one result, and no effect that costs money is made
twice."""
import os
import random
import signal
import threading
import time

from journal import check, equal, wait_until
from worker_case import BINARY, test

SLOTS, EXEC_INSTANCES, STREAM_INSTANCES = 8, 1, 6
BUSY = SLOTS * (EXEC_INSTANCES + STREAM_INSTANCES)

# The effect is a line in a file that is only appended to. Of a doubt the provider is asked, as a real caller would: who
# began it and never said so may have performed it.
EFFECT = """
effect() {
    [ "$2" = go ] || ! grep -qsx "$3" "effects/$1" || return 0
    sleep "0.0$((3 + $3 % 5))"
    echo "$3" >>"effects/$1"
}
"""

STREAM = EFFECT + """
answer() { read -r line || exit 0; line=${line#*\\"answer\\":\\"}; answer=${line%%\\"*}; }
while read -r line; do
    id=${line#*\\"id\\":}; id=${id%%[!0-9]*}
    generation=${line#*\\"generation\\":}; generation=${generation%%[!0-9]*}
    count=${line##*\\"payload\\":}; count=${count%%[!0-9]*}
    key="{\\"id\\":$id,\\"generation\\":$generation"
    item=0
    while [ "$item" -lt "$count" ]; do
        echo "$key,\\"item\\":\\"$item\\",\\"begin\\":true}"; answer
        case $answer in
        go | in_doubt)
            doubt=$answer
            [ "$doubt" = go ] || { echo "$key,\\"item\\":\\"$item\\",\\"begin\\":true,\\"force\\":true}"; answer; }
            [ "$answer" = go ] || exit 1
            effect "$id" "$doubt" "$item"
            echo "$key,\\"item\\":\\"$item\\",\\"done\\":true}"; answer ;;
        done) ;;
        *) exit 1 ;;
        esac
        item=$((item + 1))
    done
    echo "$key,\\"result\\":$count}"
done
"""

EXEC = EFFECT + """
ask() { psql -XAtqd "$DATABASE_URL" -c "select SCHEMA.$1($ENDWELL_JOB_ID, $ENDWELL_GENERATION, '$ENDWELL_CLAIM_ID', '$2'$3)"; }
read -r count
item=0
while [ "$item" -lt "$count" ]; do
    answer=$(ask item_begin "$item") || exit 75
    case $answer in
    in_doubt) [ "$(ask item_begin "$item" ", true")" = go ] || exit 75 ;;
    go | done) ;;
    *) exit 75 ;;
    esac
    if [ "$answer" != done ]; then
        effect "$ENDWELL_JOB_ID" "$answer" "$item"
        [ "$(ask item_end "$item" ", true")" = ok ] || exit 75
    fi
    item=$((item + 1))
done
echo "$count"
"""


class Deploy:
    """One round: two containers, and who enqueues all the while."""

    def __init__(self, case, number):
        self.case, self.number = case, number
        self.queues = [f"exec{number}", f"stream{number}"]
        for queue in self.queues:
            case.queue(queue, max_releases=1000, max_attempts=1, backoff_ms=1)

    def container(self, name):
        plan = self.case.plan(Phases="workers db", GraceSec="60", RuntimeDirectory=self.case.path(f"{name}.{self.number}"))
        for queue, option, count in zip(self.queues, ("", "--stream"), (EXEC_INSTANCES, STREAM_INSTANCES)):
            command = self.case.path("exec" if not option else "stream")
            for instance in range(count):
                plan.service(f"{queue}-{instance}", f"{BINARY} worker --queue {queue} --concurrency {SLOTS} --poll 100ms "
                             f"--drain-timeout 300ms {option} -- /bin/sh {command}", Phase="workers", Type="notify",
                             Environment=f'"DATABASE_URL={self.case.url}" "ENDWELL_DATABASE_SCHEMA={self.case.schema}"')
        plan.database(Url=self.case.url, Schema=self.case.schema, reaper={"IntervalSec": "1s"})
        return self.case.run(plan)

    def rows(self, columns, more="", session=None):
        return (session or self.case.admin).rows(f"select {columns} from @schema@.job where queue = any(%s) {more}", self.queues)

    def held_by(self, run):
        """Claims of its workers."""
        mine = owners(run)
        held = self.rows("id, gen, worker_id::text as worker", "and state = 'running'")
        return {(row.id, row.gen) for row in held if row.worker in mine}


class Producer:
    """Enqueues all the time: short ones, and such as last longer than a drain may."""

    def __init__(self, deploy):
        self.deploy, self.over, self.session = deploy, False, deploy.case.direct()
        self.random = random.Random(deploy.case.random.random())
        self.feed()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def feed(self):
        for queue in self.deploy.queues:
            waiting = self.session.value("select count(*) from @schema@.job where queue = %s and state = 'ready'", queue)
            few = 4 if queue.startswith("exec") else BUSY
            if waiting < few:
                sizes = [str(self.random.choice((1, 3, 6, 16))) for _ in range(few)]
                self.session.enqueue_many(queue, "k", sizes)

    def _run(self):
        while not self.over:
            self.feed()
            time.sleep(0.02)  # its own pace, not a wait for anything

    def stop(self):
        self.over = True
        self.thread.join()


def go_through(case, number):
    deploy, before = Deploy(case, number), case.random.random() < 0.5
    instant = case.random.uniform(0, 0.5)
    producer, old = Producer(deploy), deploy.container("old").ready()
    new = deploy.container("new").ready() if before else None
    time.sleep(instant)  # the random instant itself
    held = wait_until(lambda: len(found := deploy.held_by(old)) == BUSY and found, f"{BUSY} busy slots", alive=old.alive)
    began = time.monotonic()
    old.send(signal.SIGTERM)
    new = new or deploy.container("new")
    code = old.wait()
    took = time.monotonic() - began
    left = deploy.held_by(old)
    new.ready()
    producer.stop()
    wait_until(lambda: not deploy.rows("id", "and state in ('ready', 'running') limit 1"), "the end of all jobs", alive=new.alive)
    equal(left, set(), "claims of who is gone")
    jobs = verify(case, deploy)
    equal(code, 0, "exit code of the old one")
    equal(new.end(), 0, "exit code of the successor")
    given_back = case.admin.value("""select count(*) from @schema@.attempt a join @schema@.job j on j.id = a.job_id
        where j.queue = any(%s)""", deploy.queues)
    print(f"     drained {len(held - left)}/{len(held)} in {took:.2f} s, {instant * 1000:.0f} ms after it was ready; the successor "
          f"{'was there' if before else 'came after'}; {jobs} jobs, {given_back} given back", flush=True)
    return given_back


def owners(run):
    return {line["owner"] for line in run.journal.all("service_started")}


def verify(case, deploy):
    jobs = deploy.rows("id, state, payload, result, attempts, deaths")
    for job in jobs:
        equal((job.state, (job.result or '').strip(), job.attempts, job.deaths), ("done", job.payload, 1, 0), f"job {job.id}")
        effects = case.lines(f"effects/{job.id}")
        equal(effects, [str(item) for item in range(int(job.payload))], f"effects of job {job.id}")
    outcomes = case.admin.rows("select distinct outcome from @schema@.attempt where job_id = any(%s)", [job.id for job in jobs])
    check({row.outcome for row in outcomes} <= {"released", "interrupted"}, f"attempts ended so: {outcomes}")
    return len(jobs)


@test(repeat=(5, 100), alone=True)
def a_deploy_at_any_instant_gives_each_job_one_result_and_makes_no_effect_twice(case):
    case.file("stream", STREAM)
    case.file("exec", EXEC.replace("SCHEMA", case.quoted).replace("psql", "/usr/lib/postgresql/15/bin/psql", 1))
    os.mkdir(case.path("effects"))
    print(f"     seed {case.seed}", flush=True)
    given_back = sum(go_through(case, number) for number in range(case.repeat))
    check(given_back > 0, "no job lasted longer than its drain")
