-- One sweep: returns or buries up to n jobs whose holders are silent, and puts items of ended attempts in doubt.
--
-- Only one sweep at a time: a second one returns at once, with nothing. On a standby, or in a read-only transaction,
-- nothing is done and nothing raised. The work depends on the running jobs alone, never on the finished ones.
--
-- It also renews the pulse. After a time in which nobody could be heard (see _pulse.sql) everybody has a whole lease
-- to speak, counted from here; spared_at writes that down on each job that needs it, so that a sweep or a server that
-- keeps restarting gives each claim one fresh lease and not one after the other for ever.
--
-- Queues are found in the index of running jobs, not in the table of queues: a job of a queue that was removed is
-- recovered too. The queue whose oldest claim is oldest comes first.

create or replace function @schema@.reap(n int default 500) returns table (id bigint, gen bigint, verdict text)
language plpgsql
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    v_now   timestamptz;
    v_quiet timestamptz;
    v_most  int := greatest(coalesce(reap.n, 500), 0);
    v_left  int := v_most;
    v_queue text;
    v_count bigint;
begin
    if pg_is_in_recovery() or current_setting('transaction_read_only') = 'on'
       or not pg_try_advisory_xact_lock(@schema@._space(), @schema@._gate('reap', '')) then
        return;
    end if;
    v_now := clock_timestamp();
    update @schema@.pulse p
       set quiet_from = case when @schema@._quiet(v_now) is null then v_now else p.quiet_from end,
           tick_at = v_now, server_at = pg_postmaster_start_time(), timeline = @schema@._timeline()
    returning p.quiet_from into v_quiet;

    for v_queue in
        with recursive queues (name) as (
            (select j.queue from @schema@.job j where j.state = 'running' order by j.queue limit 1)
            union all
            select (select j.queue from @schema@.job j
                     where j.state = 'running' and j.queue > q.name order by j.queue limit 1)
              from queues q where q.name is not null
        )
        select q.name
          from queues q
         where q.name is not null
         order by (select j.claimed_at from @schema@.job j where j.queue = q.name and j.state = 'running'
                    order by j.claimed_at limit 1)
    loop
        update @schema@.job j set spared_at = v_quiet
         where j.id = any (array(select x.id from @schema@.job x
                                  where x.queue = v_queue and x.state = 'running' and x.spared_at is null
                                    and v_quiet + x.lease_ms * interval '1 ms' > v_now
                                    and @schema@._silent(x, v_now, '-infinity')
                                  order by x.claimed_at, x.id
                                  limit v_left
                                    for no key update skip locked));
        return query select r.* from @schema@._recover(v_queue, null, v_left, v_now, v_quiet) r;
        get diagnostics v_count = row_count;
        v_left := v_left - v_count;
        exit when v_left <= 0;
    end loop;

    perform @schema@._doubt(i.job_id, i.gen)
       from (select o.job_id, max(o.gen) as gen
               from (select x.job_id, x.gen from @schema@.item x
                       join @schema@.job j on j.id = x.job_id
                      where x.state = 'running' and x.gen <= j.gen and (j.worker_id is null or x.gen < j.gen)
                      limit v_most) o
              group by o.job_id) i;
end $$;
