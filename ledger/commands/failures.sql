-- $1 how far back, $2 how many rows: the attempts that failed, one row for each job and text, for the command line to
-- put together by what the texts have in common. What was given back, shared or cancelled accuses nobody.
select a.queue, a.kind, coalesce(a.error_class, '') as class, coalesce(left(a.error, 400), '') as error, a.job_id,
       count(*) as failures,
       (extract(epoch from clock_timestamp() - max(a.ended_at)) * 1000000)::bigint as ago_usec
  from @schema@.attempt a
 where a.ended_at > clock_timestamp() - $1::interval
   and a.outcome in ('failed', 'expired', 'timed_out', 'worker_died')
 group by 1, 2, 3, 4, 5
 order by count(*) desc, a.job_id
 limit $2::bigint
