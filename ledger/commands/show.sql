-- $1 a job's id: everything that a person asks about one job. $2: with its payload too.
select j.id, j.queue, j.kind, l.status, j.gen, j.attempts, j.max_attempts, j.deaths, j.max_deaths, j.releases,
       j.max_releases, j.total_attempts, j.budget_no, j.priority, j.dedup_key, j.concurrency_key, j.fatal, j.solo, j.cancel,
       j.created_at, j.run_at, j.claimed_at, j.beat_at, j.deadline_at, j.finished_at, j.lease_ms, j.hard_timeout_ms,
       j.worker_id, w.host as worker_host, w.pid as worker_pid, w.state as worker_state, j.error_class, j.last_error,
       j.progress, j.result, coalesce(octet_length(coalesce(j.payload, p.payload)::text), 0) as payload_bytes,
       case when $2::boolean then coalesce(j.payload, p.payload) end as payload,
       (select coalesce(json_agg(a order by a.ended_at desc, a.gen desc), '[]')
          from (select t.gen, t.budget_no, t.attempt, t.outcome, t.claimed_at, t.ended_at, t.worker_id, t.error_class, t.error
                  from @schema@.attempt t where t.job_id = j.id order by t.ended_at desc, t.gen desc limit 50) a) as tries,
       (select coalesce(json_object_agg(i.state, i.n), '{}')
          from (select t.state, count(*) as n from @schema@.item t where t.job_id = j.id group by t.state) i) as items,
       (select coalesce(json_agg(d.key), '[]')
          from (select t.key from @schema@.item t where t.job_id = j.id and t.state = 'in_doubt' order by t.key limit 100) d)
           as in_doubt,
       (select coalesce(json_agg(u order by u.id desc), '[]')
          from (select x.id, x.at, x.verb, x.by from @schema@.audit x where x.job_id = j.id order by x.id desc limit 20) u)
           as audit
  from @schema@.job j
 cross join lateral @schema@.look(j.id) l
  left join @schema@.payload p on p.job_id = j.id
  left join @schema@.worker w on w.id = j.worker_id
 where j.id = $1::bigint
