-- Whether a worker that holds jobs takes no more for now, so that its hand gets empty for one that must run alone.
-- Private.
--
-- A worker of several slots that is always busy never holds nothing, and where all workers are like that a solo job
-- would wait for ever. So when one has been due for ten seconds, workers stand back: in every second window by turns,
-- and each window is twice as long as the one before (10 s, 20 s, 40 s, …). Half of them work on at any time, whoever
-- they are; and whatever its jobs take, each worker comes to a window that is longer.
--
-- Nobody stands back for a job that an empty hand would not get: its key is full, or something more urgent is due.

create or replace function @schema@._stands_back(queue text, worker uuid) returns boolean
language plpgsql as $$
#variable_conflict use_column
declare
    v_now   timestamptz := clock_timestamp();
    v_since timestamptz;
begin
    if not exists (select from @schema@.job h where h.worker_id = _stands_back.worker) then
        return false;
    end if;
    select j.run_at into v_since from @schema@.job j
     where j.queue = _stands_back.queue and j.claimable and j.solo and j.run_at <= v_now - interval '10 s'
       and (j.concurrency_key is null or @schema@._key_room(_stands_back.queue, j.concurrency_key) > 0)
       and not exists (select from @schema@.job o
                        where o.queue = _stands_back.queue and o.claimable and not o.solo
                          and o.priority < j.priority and o.run_at <= v_now)
     order by j.run_at limit 1;
    return found
           and (floor(log(2, extract(epoch from v_now - v_since)::numeric / 10))::int
                + hashtext(_stands_back.worker::text)) % 2 = 0;
end $$;
