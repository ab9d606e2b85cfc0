-- Opens the door for one claim of a worker, or not. Private; claim and claim_job come in here.
--
-- room: how many rows the queue still admits, NULL when this worker may not claim from it now. mixed: others than
-- plain jobs are due too, or the queue is limited: then claim takes the longer way. priority: of the first plain job
-- behind the cursor.
--
-- The worker's gate is shared among its claims; worker_drain and worker_dead take it alone, and so wait for every
-- claim that came before and are seen by every one that comes after: the state is read by the next statement, whose
-- snapshot is younger than the wait. That needs a snapshot for each statement: READ COMMITTED, or EW400. Beats never
-- come here. (A lock of the worker's row, for key share, says the same, at 160 bytes of WAL a claim, and connections
-- that share a worker would use up multixacts.)
--
-- Where the queue is limited, claims of it stand in line for its gate, and the count is exact: whoever was before us
-- has committed. A worker that runs a job alone gets nothing beside it.

create or replace function @schema@._admit(
    queue text, worker uuid, after_priority int, after_run_at timestamptz, after_id bigint,
    out room int, out mixed boolean, out priority int
)
language plpgsql as $$
#variable_conflict use_column
declare
    v_now  timestamptz := clock_timestamp();
    v_in   boolean;
    v_door record;
begin
    perform @schema@._read_committed('claim');
    perform @schema@._durable();

    v_in := pg_advisory_xact_lock_shared(@schema@._space(), @schema@._gate('worker', _admit.worker::text)) is not null;
    select w.beat_at, q.max_running,
           exists (select from @schema@.job j where j.queue = _admit.queue and j.claimable
                      and not j.solo and j.concurrency_key is not null) as keyed,
           exists (select from @schema@.job j where j.queue = _admit.queue and j.claimable and j.solo) as solo,
           (select j.priority
              from @schema@.job j
             where j.queue = _admit.queue and j.claimable and not j.solo and j.concurrency_key is null
               and (j.priority, j.run_at, j.id) > (_admit.after_priority, _admit.after_run_at, _admit.after_id)
             order by j.concurrency_key, j.priority, j.run_at, j.id limit 1) as priority
      into v_door
      from @schema@.worker w, @schema@.queue q
     where w.id = _admit.worker and w.state = 'up' and q.name = _admit.queue and not q.paused
       and not exists (select from @schema@.job j where j.worker_id = _admit.worker and j.solo);
    if not found then
        return;
    end if;
    if v_door.beat_at < v_now - interval '10 s' then
        update @schema@.worker w set beat_at = v_now
         where w.id = (select v.id from @schema@.worker v
                        where v.id = _admit.worker and v.beat_at < v_now - interval '10 s'
                          for no key update skip locked);
    end if;

    priority := v_door.priority;
    mixed    := v_door.max_running is not null or v_door.solo
                or v_door.keyed and @schema@._keyed_is_due(_admit.queue, v_now);
    room     := 2147483647;
    if v_door.max_running is not null then
        v_in := pg_advisory_xact_lock(@schema@._space(), @schema@._gate('queue', _admit.queue)) is not null;
        room := greatest(0, v_door.max_running - (select count(*) from @schema@.job j
                                                   where j.queue = _admit.queue and j.state = 'running'));
    end if;
end $$;
