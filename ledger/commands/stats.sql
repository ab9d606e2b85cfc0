-- How each queue stands, with whether it is paused.
select s.queue, s.ready, s.scheduled, s.running, s.expired, s.dead,
       (extract(epoch from s.oldest_due) * 1000000)::bigint as oldest_due_usec, coalesce(q.paused, false) as paused
  from @schema@.stats() s left join @schema@.queue q on q.name = s.queue
 order by s.queue
