-- $1 queue, $2 state in look's words (each NULL: any), $3 how many. Never a payload: it may hold secrets. The conditions
-- on $2 stand twice because a partial index is found by its own predicate only.
select j.id, j.queue, j.kind, s.status, j.attempts, j.max_attempts, j.deaths, j.releases, j.priority,
       j.created_at, j.run_at, j.claimed_at, j.finished_at, j.error_class, j.last_error, j.worker_id,
       case when isfinite(s.since) then (extract(epoch from c.now - s.since) * 1000000)::bigint end as since_usec
  from (select clock_timestamp() as now, (select p.quiet_from from @schema@.pulse p) as quiet) c
 cross join @schema@.job j
 cross join lateral (
     select t.status, case t.status when 'ready' then j.run_at when 'scheduled' then j.run_at
                                    when 'running' then j.claimed_at when 'expired' then j.beat_at
                                    else coalesce(j.finished_at, j.created_at) end as since
       from (select @schema@._status(j, c.now, c.quiet) as status) t) s
 where ($1::text is null or j.queue = $1::text)
   and ($2::text is distinct from 'dead' or j.is_dead)
   and ($2::text is null or $2::text not in ('running', 'expired') or j.state = 'running')
   and ($2::text is null or $2::text not in ('ready', 'scheduled') or j.claimable)
   and ($2::text is null or $2::text not in ('done', 'cancelled', 'discarded') or j.state = $2::text::@schema@.state)
   and ($2::text is null or s.status = $2::text)
 order by j.id desc
 limit $3::bigint
