-- Whether a running job's holder has lost it. Private; now is the caller's clock, quiet what _quiet answered.
--
-- _silent looks at the job's row alone and is cheap: the planner folds it into the query. _expired is the whole truth
-- and asks the items too; it is only worth asking where _silent said yes.
--
-- Life is the newest sign of progress, never the start. A sign from the future is none: a clock that jumped back
-- would otherwise keep its jobs for as long as it jumped. A fresh lease (spared_at, else quiet) protects from both
-- judgements, the lease's and the deadline's; reap writes spared_at down, so that a job gets it once for each claim.

create or replace function @schema@._silent(j @schema@.job, now timestamptz, quiet timestamptz) returns boolean
language sql immutable parallel safe as $$
    select coalesce(j.spared_at, quiet, '-infinity') + j.lease_ms * interval '1 ms' <= now
       and (coalesce(j.deadline_at < now, false)
            or coalesce(j.beat_at, j.claimed_at, j.created_at) + j.lease_ms * interval '1 ms' < now
            or coalesce(j.beat_at, j.claimed_at, j.created_at) - j.lease_ms * interval '1 ms' > now)
$$;

create or replace function @schema@._expired(j @schema@.job, now timestamptz, quiet timestamptz) returns boolean
language plpgsql stable as $$
#variable_conflict use_column
begin
    return j.state = 'running'
       and @schema@._silent(j, now, quiet)
       and (coalesce(j.deadline_at < now, false)
            or not exists (select from @schema@.item i
                            where i.job_id = (_expired.j).id
                              and i.updated_at between _expired.now - (_expired.j).lease_ms * interval '1 ms'
                                                   and _expired.now + (_expired.j).lease_ms * interval '1 ms'));
end $$;
