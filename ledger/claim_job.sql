-- Takes one named job: the guard behind a button. Says why when it does not.
--
-- ok: it is yours, counted and fenced as by claim; run_at is not asked, a person wants it now. running: somebody has
-- it; holder, since, silent and lease_left say who and for how long. exhausted: its attempts or deaths are spent, or
-- it was fatal: a person must retry it. paused: not now: the queue is paused or full, the worker is not up or runs a
-- job alone, or this job must run alone and the worker has others. ended: done, cancelled or discarded. gone: there
-- is no such job.
--
-- An expired holder is recovered first. Two callers at once: one gets it, the other waits for him and then sees him.

create or replace function @schema@.claim_job(id bigint, worker uuid)
returns table (verdict text, gen bigint, claim_id uuid, attempt int, payload json, progress json, lease_ms int,
               deadline_at timestamptz, holder uuid, since timestamptz, silent interval, lease_left interval)
language plpgsql
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
    v_queue text;
    v_door  record;
    v_now   timestamptz;
    v_quiet timestamptz;
    j       @schema@.job;
begin
    select x.queue into v_queue from @schema@.job x where x.id = claim_job.id;
    v_door := @schema@._admit(v_queue, claim_job.worker, 0, 'infinity', 0);
    v_now   := clock_timestamp();
    v_quiet := @schema@._quiet(v_now);
    if v_quiet is not null then
        perform from @schema@._recover(null, claim_job.id, 1, v_now, v_quiet);
    end if;

    select * into j from @schema@.job x where x.id = claim_job.id;
    if j.claimable and v_door.room > 0
       and (j.concurrency_key is null or @schema@._key_is_free(j.queue, j.concurrency_key, 0))
       and (not j.solo or @schema@._is_alone(claim_job.worker)) then
        perform from @schema@.job x where x.id = claim_job.id and x.claimable for no key update;
        if found then
            return query
                select 'ok', s.gen, s.claim_id, s.attempt, s.payload, s.progress, s.lease_ms, s.deadline_at,
                       claim_job.worker, v_now, interval '0', s.lease_ms * interval '1 ms'
                  from @schema@._start(v_queue, claim_job.worker, array[claim_job.id], null, null, null, null) s;
            if found then
                return;
            end if;
        end if;
        select * into j from @schema@.job x where x.id = claim_job.id;
    end if;

    verdict := case when j.id is null then 'gone'
                    when j.state = 'running' then 'running'
                    when j.is_dead then 'exhausted'
                    when j.state = 'ready' then 'paused'
                    else 'ended' end;
    if verdict = 'running' then
        gen         := j.gen;
        attempt     := j.attempts;
        progress    := j.progress;
        lease_ms    := j.lease_ms;
        deadline_at := j.deadline_at;
        holder      := j.worker_id;
        since       := j.claimed_at;
        silent      := clock_timestamp() - j.beat_at;
        lease_left  := least(j.beat_at + j.lease_ms * interval '1 ms', j.deadline_at) - clock_timestamp();
    end if;
    return next;
end $$;
