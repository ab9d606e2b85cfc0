-- A worker takes up to n due jobs of a queue, in order (priority, run_at, id). It counts when the caller's transaction
-- commits: call it alone.
--
-- Nothing for a worker that is not up, for a paused queue, beyond max_running or max_running_key. A job that must run
-- alone comes alone, to a worker that holds nothing. Each claim counts an attempt, raises the generation and makes a new
-- claim_id; gen and claim_id together are the fence that every later verb names.
--
-- When there are fewer than n, expired jobs of the queue are recovered first (ten at most), if the pulse is fresh: so
-- queues heal themselves even between sweeps, and a slot that a dead worker holds is freed.
--
-- after_*: start behind the last job claimed. One old open transaction keeps all dead index entries at the head of the
-- queue alive, and every claim would walk over them; behind the last claimed there are none. after_id alone is enough.
-- Drop it each second and after an empty answer, or an earlier retry is never seen.

create or replace function @schema@.claim(
    queue text, worker uuid, n int default 1,
    after_priority int default null, after_run_at timestamptz default null, after_id bigint default null
) returns table (id bigint, gen bigint, claim_id uuid, attempt int, max_attempts int, kind text, payload json,
                 progress json, lease_ms int, deadline_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
    v_room  int := @schema@._admit(claim.queue, claim.worker);
    v_n     int := least(claim.n, v_room);
    v_ids   bigint[];
    v_after record;
    v_now   timestamptz;
    v_quiet timestamptz;
begin
    if v_room is null or coalesce(claim.n, 0) <= 0 then
        return;
    end if;
    select coalesce(claim.after_priority, -2147483648) as priority, coalesce(claim.after_run_at, '-infinity') as run_at,
           coalesce(claim.after_id, -9223372036854775808) as id into v_after;
    if claim.after_id is not null and (claim.after_priority is null or claim.after_run_at is null) then
        select j.priority, j.run_at, j.id into v_after from @schema@.job j where j.id = claim.after_id;
        if not found then
            select -2147483648 as priority, '-infinity'::timestamptz as run_at, -9223372036854775808 as id into v_after;
        end if;
    end if;

    v_ids := @schema@._pick(claim.queue, claim.worker, v_n, v_after.priority, v_after.run_at, v_after.id);
    if cardinality(v_ids) < claim.n then
        v_now   := clock_timestamp();
        v_quiet := @schema@._quiet(v_now);
        if v_quiet is not null then
            perform from @schema@._recover(claim.queue, null, 10, v_now, v_quiet);
            if found then
                v_n   := least(claim.n, @schema@._admit(claim.queue, claim.worker));
                v_ids := @schema@._pick(claim.queue, claim.worker, v_n, v_after.priority, v_after.run_at, v_after.id);
            end if;
        end if;
    end if;
    return query select s.* from @schema@._start(v_ids, claim.worker) s;
end $$;
