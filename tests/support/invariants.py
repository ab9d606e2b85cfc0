"""What is true of a ledger at every instant, each as SQL that returns no row; and what is when it has come to rest."""
from journal import check

ALWAYS = {
    "a job has a worker exactly while it runs":
        "select id from @schema@.job where (state = 'running') <> (worker_id is not null)",
    "a running job has a claim, a beat and a start":
        "select id from @schema@.job where state = 'running' and (claim_id is null or beat_at is null or claimed_at is null)",
    "no counter is above its cap":
        "select id from @schema@.job where attempts > max_attempts or deaths > max_deaths or attempts < 0",
    "no budget has more claims than attempts and releases together":
        """select id from @schema@.job
            where total_attempts > (budget_no + 1) * (max_attempts + max_releases)""",
    "what is spent, fatal or not ready is not claimable":
        """select id from @schema@.job where claimable
            and (state <> 'ready' or fatal or attempts >= max_attempts or deaths >= max_deaths)""",
    "a ready job that nobody may claim is dead":
        "select id from @schema@.job where state = 'ready' and not claimable and not is_dead",
    "each claim that did not end well was written down, once":
        """select j.id from @schema@.job j left join (select job_id, count(*) as n from @schema@.attempt group by 1) a
            on a.job_id = j.id
            where coalesce(a.n, 0) <> j.total_attempts - case when j.state in ('running', 'done') then 1 else 0 end""",
    "deaths are the attempts of this budget that died":
        """select j.id from @schema@.job j left join (select job_id, budget_no,
                count(*) filter (where outcome in ('expired', 'timed_out')
                    or outcome = 'worker_died' and error_class is distinct from 'clean') as sure,
                count(*) filter (where outcome in ('failed', 'cancelled')) as perhaps from @schema@.attempt group by 1, 2) a
            on a.job_id = j.id and a.budget_no = j.budget_no
            where not j.deaths between coalesce(a.sure, 0) and coalesce(a.sure + a.perhaps, 0)""",
    "no attempt is newer than its job":
        "select j.id from @schema@.attempt a join @schema@.job j on j.id = a.job_id where a.gen > j.gen",
    "no generation has two claims":
        "select job_id from @schema@.attempt group by job_id, gen having count(*) > 1",
    "a key is held by one job":
        """select min(id) from @schema@.job where dedup_key is not null and (state in ('ready', 'running') or is_dead)
            group by queue, dedup_key having count(*) > 1""",
    "no more run at once than a queue allows":
        """select q.name from @schema@.queue q join @schema@.job j on j.queue = q.name and j.state = 'running'
            where q.max_running is not null group by q.name, q.max_running having count(*) > q.max_running""",
    "no more run at once of a key than a queue allows":
        """select j.concurrency_key from @schema@.queue q join @schema@.job j on j.queue = q.name and j.state = 'running'
            where j.concurrency_key is not null group by q.name, q.max_running_key, j.concurrency_key
            having count(*) > q.max_running_key""",
    "a solo job runs beside nothing":
        """select j.id from @schema@.job j join @schema@.job other on other.worker_id = j.worker_id and other.id <> j.id
            where j.solo and j.state = 'running' and other.state = 'running'""",
    "a job that has ended says when":
        """select id from @schema@.job
            where state in ('done', 'dead', 'cancelled', 'discarded') and finished_at is null""",
    "no item is newer than its job":
        "select j.id from @schema@.item i join @schema@.job j on j.id = i.job_id where i.gen > j.gen",
}

AT_REST = {
    "no item of a job that has ended still runs":
        """select j.id from @schema@.item i join @schema@.job j on j.id = i.job_id
            where i.state = 'running' and j.state in ('done', 'dead', 'cancelled', 'discarded')""",
    "nothing runs":
        "select id from @schema@.job where state = 'running'",
    "what can be claimed has been":
        "select id from @schema@.job where claimable",
}

# Of a table `effect(job_id, n)`, one row a commit of hold, effect and complete together.
EFFECTS = {
    "no effect under hold is there twice":
        "select job_id from effect group by job_id having count(*) > 1",
    "an effect under hold is there exactly where its job is done":
        """select j.id from @schema@.job j full join effect e on e.job_id = j.id
            where j.id is null or (e.job_id is not null and j.state <> 'done')""",
}


def holds(session, *families):
    for family in families:
        for name, sql in family.items():
            found = session.rows(sql)
            check(not found, f"broken: {name}: {found[:5]}")
