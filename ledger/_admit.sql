-- Opens the door for one claim of a worker, or not. Private; claim and claim_job come in here.
--
-- Answers NULL when this worker may not claim from this queue now, else how many rows the queue still admits.
--
-- for key share on the worker's row keeps worker_drain and worker_dead, who ask for update, waiting until this claim has
-- committed; beats touch no key and pass. The state is read by the next statement, which sees what a drain committed
-- while we waited: so nobody claims behind a drain. That needs a snapshot for each statement: READ COMMITTED, or EW400.
--
-- Where the queue is limited, claims of it stand in line for its gate, and the count is exact: whoever was before us has
-- committed. A worker that runs a job alone gets nothing beside it.

create or replace function @schema@._admit(queue text, worker uuid) returns int
language plpgsql as $$
#variable_conflict use_column
declare
    v_now  timestamptz := clock_timestamp();
    v_door record;
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception 'endwell: a claim needs READ COMMITTED, this transaction is %',
            upper(current_setting('transaction_isolation')) using errcode = 'EW400';
    end if;
    perform @schema@._durable();

    perform from @schema@.worker w where w.id = _admit.worker for key share;
    select w.beat_at, q.max_running into v_door
      from @schema@.worker w, @schema@.queue q
     where w.id = _admit.worker and w.state = 'up' and q.name = _admit.queue and not q.paused
       and not exists (select from @schema@.job j
                        where j.worker_id = _admit.worker and j.state = 'running' and j.solo);
    if not found then
        return null;
    end if;
    if v_door.beat_at < v_now - interval '10 s' then
        update @schema@.worker w set beat_at = v_now
         where w.id = (select v.id from @schema@.worker v
                        where v.id = _admit.worker and v.beat_at < v_now - interval '10 s'
                          for no key update skip locked);
    end if;

    if v_door.max_running is null then
        return 2147483647;
    end if;
    perform pg_advisory_xact_lock(@schema@._space(), @schema@._gate('queue', _admit.queue));
    return greatest(0, v_door.max_running - (select count(*) from @schema@.job j
                                              where j.queue = _admit.queue and j.state = 'running'));
end $$;
