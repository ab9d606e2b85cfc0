-- The dead jobs of a queue, or of all, in id order: those that are spent or fatal too, whatever their label says.
-- after: the last id of the page before.

create or replace function @schema@.dead(of_queue text default null, after bigint default 0, n int default 100)
returns table (id bigint, queue text, kind text, attempts int, deaths int, total_attempts int, error_class text,
               last_error text, since timestamptz)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
    if dead.of_queue is null then
        return query
            select j.id, j.queue::text, j.kind, j.attempts, j.deaths, j.total_attempts, j.error_class, j.last_error,
                   coalesce(j.finished_at, j.beat_at, j.created_at)
              from @schema@.job j
             where j.is_dead and j.id > coalesce(dead.after, 0)
             order by j.id limit dead.n;
    else
        return query
            select j.id, j.queue::text, j.kind, j.attempts, j.deaths, j.total_attempts, j.error_class, j.last_error,
                   coalesce(j.finished_at, j.beat_at, j.created_at)
              from @schema@.job j
             where j.is_dead and j.queue = dead.of_queue and j.id > coalesce(dead.after, 0)
             order by j.queue, j.id limit dead.n;
    end if;
end $$;
