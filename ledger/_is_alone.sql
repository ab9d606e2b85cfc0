-- Whether a worker holds nothing, and no other claim of it is in flight or begins before our commit. Private; asked
-- before a job is claimed that must run alone. The lock is never waited for.

create or replace function @schema@._is_alone(worker uuid) returns boolean
language plpgsql as $$
#variable_conflict use_column
begin
    perform from @schema@.worker w where w.id = _is_alone.worker and w.state = 'up' for update skip locked;
    return found and not exists (select from @schema@.job j
                                  where j.worker_id = _is_alone.worker and j.state = 'running');
end $$;
