-- A worker takes up to n due jobs of a queue, in order (priority, run_at, id). It counts when the caller's
-- transaction commits: call it alone.
--
-- Nothing for a worker that is not up, for a paused queue, beyond max_running or max_running_key. A job that must run
-- alone comes alone, to a worker that holds nothing. Each claim counts an attempt, raises the generation and makes a
-- new claim_id; gen and claim_id together are the fence that every later verb names.
--
-- When there are fewer than n, expired jobs of the queue are recovered first (ten at most), if the pulse is fresh: so
-- queues heal themselves even between sweeps, and a slot that a silent worker holds is freed.
--
-- A plan that is made once, and no way to choose a sequential scan: the planner thinks that EXISTS finds its row at
-- once and that a LIMIT it does not know is a tenth of the table, and would read the whole of it. (jit = off: what
-- was ruled out looks dear, and dear plans are compiled.)
--
-- after_*: start behind the last job claimed. One old open transaction keeps all dead index entries at the head of
-- the queue alive, and every claim would walk over them; behind the last claimed there are none. after_id alone is
-- enough. Drop it each second and after an empty answer, or an earlier retry is never seen.

create or replace function @schema@.claim(
    queue text, worker uuid, n int default 1,
    after_priority int default null, after_run_at timestamptz default null, after_id bigint default null
) returns table (id bigint, gen bigint, claim_id uuid, attempt int, max_attempts int, kind text, payload json,
                 progress json, lease_ms int, deadline_at timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
    v_priority int := coalesce(claim.after_priority, -2147483648);
    v_run_at   timestamptz := coalesce(claim.after_run_at, '-infinity');
    v_id       bigint := coalesce(claim.after_id, -9223372036854775808);
    v_door     record;
    v_left     int := coalesce(claim.n, 0);
    v_count    int;
    v_healed   boolean := false;
    v_ids      bigint[];
begin
    if claim.after_id is not null and (claim.after_priority is null or claim.after_run_at is null) then
        select coalesce(min(j.priority), v_priority), coalesce(min(j.run_at), v_run_at),
               coalesce(min(j.id), -9223372036854775808)
          into v_priority, v_run_at, v_id
          from @schema@.job j where j.id = claim.after_id;
    end if;

    v_door := @schema@._admit(claim.queue, claim.worker, v_priority, v_run_at, v_id);
    if v_door.room is null or v_left <= 0 then
        return;
    end if;

    if v_door.mixed then
        v_ids := @schema@._pick(claim.queue, claim.worker, least(v_left, v_door.room), v_priority, v_run_at, v_id);
        if cardinality(v_ids) < v_left and @schema@._heal(claim.queue) then
            v_door := @schema@._admit(claim.queue, claim.worker, v_priority, v_run_at, v_id);
            v_ids  := @schema@._pick(claim.queue, claim.worker, least(v_left, v_door.room), v_priority, v_run_at, v_id);
        end if;
        return query select s.* from @schema@._start(claim.queue, claim.worker, v_ids, null, null, null, null) s;
        return;
    end if;

    loop
        while v_door.priority is not null loop
            if v_door.priority > v_priority then
                v_run_at := '-infinity';
                v_id     := -9223372036854775808;
            end if;
            return query
                select s.*
                  from @schema@._start(claim.queue, claim.worker, null, v_left, v_door.priority, v_run_at, v_id) s;
            get diagnostics v_count = row_count;
            v_left := v_left - v_count;
            if v_left <= 0 then
                return;
            end if;
            v_priority := v_door.priority;
            v_door.priority := (select j.priority from @schema@.job j
                                 where j.queue = claim.queue and j.claimable and not j.solo
                                   and j.concurrency_key is null and j.priority > v_priority
                                 order by j.concurrency_key, j.priority limit 1);
        end loop;
        if v_healed or not @schema@._heal(claim.queue) then
            return;
        end if;
        v_healed   := true;
        v_priority := -2147483648;
        v_door     := @schema@._admit(claim.queue, claim.worker, v_priority, '-infinity', v_id);
    end loop;
end $$;
