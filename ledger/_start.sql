-- Makes jobs running: the one statement that counts an attempt, and checks the cap while it counts. Private.
--
-- Either the jobs that the caller has chosen and locked (ids), or, with ids NULL, the first n plain ones of this
-- priority, in order, behind the cursor, passing by what others are taking. claimable is asked of the newest row, in
-- here. Answers claim's columns in claim's order.
--
-- Ordering by concurrency_key, which is NULL in all of them, tells the planner that the index has the order.
-- `id = any(array(…))` and not a join: with a LIMIT that the planner does not know it would join the whole table.

create or replace function @schema@._start(
    queue text, worker uuid, ids bigint[], n int, priority int, after_run_at timestamptz, after_id bigint
) returns table (id bigint, gen bigint, claim_id uuid, attempt int, max_attempts int, kind text, payload json,
                 progress json, lease_ms int, deadline_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
    v_now timestamptz := clock_timestamp();
begin
    return query
        with plain as materialized (
            select j.id
              from @schema@.job j
             where j.queue = _start.queue and j.claimable and not j.solo and j.concurrency_key is null
               and j.priority = _start.priority and j.run_at <= v_now
               and (j.run_at, j.id) > (_start.after_run_at, _start.after_id)
             order by j.concurrency_key, j.run_at, j.id
             limit _start.n
               for no key update skip locked
        ), started as (
            update @schema@.job j
               set state = 'running', gen = j.gen + 1, claim_id = gen_random_uuid(), worker_id = _start.worker,
                   attempts = j.attempts + 1, total_attempts = least(j.total_attempts, 2147483646) + 1,
                   claimed_at = v_now, beat_at = v_now, deadline_at = v_now + j.hard_timeout_ms * interval '1 ms',
                   spared_at = null
             where j.id = any (case when _start.ids is null then array(select p.id from plain p) else _start.ids end)
               and j.claimable
            returning j.id, j.gen, j.claim_id, j.attempts, j.max_attempts, j.kind, j.payload, j.progress, j.lease_ms,
                      j.deadline_at, j.priority, j.run_at
        )
        select s.id, s.gen, s.claim_id, s.attempts, s.max_attempts, s.kind,
               coalesce(s.payload, (select p.payload from @schema@.payload p where p.job_id = s.id)),
               s.progress, s.lease_ms, s.deadline_at
          from started s
         order by s.priority, s.run_at, s.id;
end $$;
