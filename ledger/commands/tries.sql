-- $1 a job's id: its attempts that did not succeed, the newest first.
select t.budget_no, t.attempt, t.outcome, to_char(t.ended_at, 'YYYY-MM-DD HH24:MI:SSOF') as ended,
       (extract(epoch from t.ended_at - t.claimed_at) * 1000000)::bigint as lasted_usec,
       coalesce(t.error_class || ': ', '') || coalesce(t.error, '') as error
  from @schema@.attempt t where t.job_id = $1::bigint
 order by t.ended_at desc, t.gen desc
 limit 20
