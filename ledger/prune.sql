-- Forgets, up to n rows: finished jobs (with payload and items) and attempts that are older than their queue keeps
-- them, or than `older` where the queue says nothing, and workers with nothing running that were silent for seven
-- days. Answers how many rows went; call until it answers 0. Dead jobs are never forgotten: they wait for a person.
--
-- Queue by queue, oldest first, along the index: what is to be kept is never read.

create or replace function @schema@.prune(n int default 5000, older interval default '7 days') returns bigint
language plpgsql
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
    v_now   timestamptz := clock_timestamp();
    v_left  bigint := greatest(coalesce(prune.n, 5000), 0);
    v_all   bigint := v_left;
    v_count bigint;
    v_queue record;
begin
    for v_queue in
        with recursive finished (name) as (
            (select j.queue from @schema@.job j where j.state in ('done', 'cancelled', 'discarded')
              order by j.queue limit 1)
            union all
            select (select j.queue from @schema@.job j
                     where j.state in ('done', 'cancelled', 'discarded') and j.queue > f.name order by j.queue limit 1)
              from finished f where f.name is not null
        ), failed (name) as (
            (select a.queue from @schema@.attempt a order by a.queue limit 1)
            union all
            select (select a.queue from @schema@.attempt a where a.queue > f.name order by a.queue limit 1)
              from failed f where f.name is not null
        )
        select s.name, v_now - coalesce(q.keep, prune.older) as before
          from (select f.name from finished f union select f.name from failed f) s
          left join @schema@.queue q on q.name = s.name
         where s.name is not null and coalesce(q.keep, prune.older) is not null
    loop
        delete from @schema@.job j
         where j.id = any (array(select x.id from @schema@.job x
                                  where x.queue = v_queue.name and x.state in ('done', 'cancelled', 'discarded')
                                    and x.finished_at < v_queue.before
                                  order by x.finished_at
                                  limit v_left
                                    for update skip locked));
        get diagnostics v_count = row_count;
        v_left := v_left - v_count;

        delete from @schema@.attempt a
         where (a.job_id, a.gen) in (select x.job_id, x.gen from @schema@.attempt x
                                      where x.queue = v_queue.name and x.ended_at < v_queue.before
                                      order by x.ended_at
                                      limit v_left
                                        for update skip locked);
        get diagnostics v_count = row_count;
        v_left := v_left - v_count;
        exit when v_left <= 0;
    end loop;

    delete from @schema@.worker w
     where w.id in (select v.id from @schema@.worker v
                     where v.beat_at < v_now - interval '7 days'
                       and not exists (select from @schema@.job j where j.worker_id = v.id)
                     limit v_left
                       for update skip locked);
    get diagnostics v_count = row_count;
    return v_all - v_left + v_count;
end $$;
