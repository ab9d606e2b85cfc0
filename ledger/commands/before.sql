-- $1 a job's id: what it is before look() may recover it.
select j.state, j.gen, j.worker_id from @schema@.job j where j.id = $1::bigint
