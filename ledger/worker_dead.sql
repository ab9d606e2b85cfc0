-- For him who knows that a worker is dead (waitid, and its tree is empty): its jobs go back now, not when their
-- leases end. At most 500 a call; call until it returns nothing.
--
-- cause: interrupted (we killed it at a deploy's limit): the attempt is given back. clean (it ended well and left
-- jobs behind): the attempt is charged, no death. crashed, oom, timeout and any other word: an attempt and a death.
-- But of a worker that held several jobs nobody knows which one killed it: then each is charged its attempt and no
-- death, and runs alone the next time. How many it held is written down at the first call, before anything is
-- recovered.
--
-- The oldest claims come first; by id alone the planner would rather walk the primary key until it met 500 of them.
--
-- The worker is gone first, and its gate waits for a claim that its server process may still be committing. An
-- unknown id leaves a tombstone.

create or replace function @schema@.worker_dead(worker uuid, cause text default 'crashed', note text default null)
returns table (id bigint, gen bigint, verdict text)
language plpgsql set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_cause   text := coalesce(nullif(@schema@._text(worker_dead.cause), ''), 'crashed');
    v_held    bigint;
    v_outcome text;
    v_cohort  @schema@.job[];
    j         @schema@.job;
begin
    insert into @schema@.worker as w (id, state, cause, note)
    values (worker_dead.worker, 'gone', v_cause, @schema@._text(worker_dead.note))
    on conflict (id) do update set state = 'gone', cause = v_cause, note = coalesce(excluded.note, w.note)
        where w.state <> 'gone';
    perform pg_advisory_xact_lock(@schema@._space(), @schema@._gate('worker', worker_dead.worker::text));
    update @schema@.worker w
       set held = (select count(*) from @schema@.job x where x.worker_id = worker_dead.worker)
     where w.id = worker_dead.worker and w.held is null;
    select w.held into v_held from @schema@.worker w where w.id = worker_dead.worker;

    v_outcome := case when v_cause = 'interrupted' then 'interrupted'
                      when v_cause = 'clean' or v_held <= 1 then 'worker_died'
                      else 'worker_died_shared' end;
    v_cohort := array(select x from @schema@.job x
                       where x.worker_id = worker_dead.worker
                       order by x.claimed_at, x.id limit 500
                         for no key update skip locked);
    foreach j in array v_cohort loop
        id      := j.id;
        gen     := j.gen + 1;
        verdict := @schema@._settle(
            j, v_outcome, v_cause,
            coalesce(worker_dead.note, 'the worker ended without a report: ' || v_cause),
            died => v_outcome = 'worker_died' and v_cause <> 'clean', fatal => false,
            run_at => case when v_outcome = 'interrupted' then least(j.run_at, clock_timestamp()) end);
        if verdict is not null then
            return next;
        end if;
    end loop;
end $$;
