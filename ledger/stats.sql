-- How each queue stands. ready: due and claimable; scheduled: claimable later; expired: running, but the holder is
-- silent beyond the lease (not counted in running); dead: waiting for a person; oldest_due: how long the job that is
-- due the longest has waited.
--
-- Reads the indexes of what is alive: it costs nothing that the finished jobs are many.

create or replace function @schema@.stats()
returns table (queue text, ready bigint, scheduled bigint, running bigint, expired bigint, dead bigint,
               oldest_due interval)
language plpgsql set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := clock_timestamp();
    v_quiet timestamptz := (select p.quiet_from from @schema@.pulse p);
begin
    return query
        select q.name::text, coalesce(w.ready, 0), coalesce(w.scheduled, 0), r.running, r.expired, d.dead,
               case when isfinite(w.oldest) then v_now - w.oldest end
          from (select x.name from @schema@.queue x
                 union select j.queue from @schema@.job j where j.claimable
                 union select j.queue from @schema@.job j where j.state = 'running'
                 union select j.queue from @schema@.job j where j.is_dead) q
          cross join lateral (
              select count(*) filter (where j.run_at <= v_now) as ready,
                     count(*) filter (where j.run_at > v_now) as scheduled,
                     min(j.run_at) filter (where j.run_at <= v_now) as oldest
                from @schema@.job j where j.queue = q.name and j.claimable) w
          cross join lateral (
              select count(*) filter (where not e.expired) as running, count(*) filter (where e.expired) as expired
                from (select @schema@._silent(j, v_now, v_quiet) and @schema@._expired(j, v_now, v_quiet) as expired
                        from @schema@.job j where j.queue = q.name and j.state = 'running') e) r
          cross join lateral (
              select count(*) as dead from @schema@.job j where j.queue = q.name and j.is_dead) d
         order by q.name;
end $$;
