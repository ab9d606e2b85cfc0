-- The dead jobs of a queue, or of all, in id order: those that are spent or fatal too, whatever their label says.
-- after: the last id of the page before.

create or replace function @schema@.dead(of_queue text default null, after bigint default 0, n int default 100)
returns table (id bigint, queue text, kind text, attempts int, deaths int, total_attempts int, error_class text,
               last_error text, since timestamptz)
language plpgsql
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
    return query
        with recursive queues (name) as (
            (select j.queue from @schema@.job j
              where j.is_dead and dead.of_queue is null order by j.queue limit 1)
            union all
            select (select j.queue from @schema@.job j where j.is_dead and j.queue > q.name order by j.queue limit 1)
              from queues q where q.name is not null
        )
        select f.id, f.queue::text, f.kind, f.attempts, f.deaths, f.total_attempts, f.error_class, f.last_error,
               coalesce(f.finished_at, f.beat_at, f.created_at)
          from (select q.name from queues q where q.name is not null union all select dead.of_queue) q
          cross join lateral (
              select j.* from @schema@.job j
               where j.is_dead and j.queue = q.name and j.id > coalesce(dead.after, 0)
               order by j.queue, j.id limit dead.n) f
         order by f.id limit dead.n;
end $$;
