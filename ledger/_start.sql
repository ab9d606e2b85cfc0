-- Makes locked rows running: the one statement that counts an attempt, and checks the cap while it counts. Private.
--
-- Answers claim's columns in claim's order. claimable is asked again here, of the newest row.

create or replace function @schema@._start(ids bigint[], worker uuid)
returns table (id bigint, gen bigint, claim_id uuid, attempt int, max_attempts int, kind text, payload json,
               progress json, lease_ms int, deadline_at timestamptz)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := clock_timestamp();
begin
    return query
        with started as (
            update @schema@.job j
               set state = 'running', gen = j.gen + 1, claim_id = gen_random_uuid(), worker_id = _start.worker,
                   attempts = j.attempts + 1, total_attempts = least(j.total_attempts, 2147483646) + 1,
                   claimed_at = v_now, beat_at = v_now, deadline_at = v_now + j.hard_timeout_ms * interval '1 ms',
                   spared_at = null
             where j.id = any (_start.ids) and j.claimable
            returning j.*
        )
        select s.id, s.gen, s.claim_id, s.attempts, s.max_attempts, s.kind,
               coalesce(s.payload, (select p.payload from @schema@.payload p where p.job_id = s.id)),
               s.progress, s.lease_ms, s.deadline_at
          from started s
         order by s.priority, s.run_at, s.id;
end $$;
