-- Whether a worker holds nothing, and no other claim of it is in flight or begins before our commit. Private; asked
-- before a job is claimed that must run alone.
--
-- Our claim shares the worker's gate already; to have it alone is tried and never waited for, or two claims of one
-- worker would wait for each other. What the worker holds is asked by a statement of its own, whose snapshot is younger
-- than the gate: a claim may have committed between the two.

create or replace function @schema@._is_alone(worker uuid) returns boolean
language plpgsql as $$
#variable_conflict use_column
begin
    if not pg_try_advisory_xact_lock(@schema@._space(), @schema@._gate('worker', _is_alone.worker::text)) then
        return false;
    end if;
    return not exists (select from @schema@.job j where j.worker_id = _is_alone.worker);
end $$;
