-- The open items of an attempt that is over: nobody knows whether their effect happened. Private.
--
-- Items of a younger generation are another attempt's and stay. Locked ones are skipped (their writer waits for the
-- job's row, which our caller holds); the sweep finds them later.

create or replace function @schema@._doubt(job bigint, gen bigint) returns void
language plpgsql as $$
#variable_conflict use_column
begin
    update @schema@.item i set state = 'in_doubt', updated_at = clock_timestamp()
     where i.job_id = _doubt.job and i.state = 'running'
       and i.key = any (array(select o.key from @schema@.item o
                               where o.job_id = _doubt.job and o.gen <= _doubt.gen and o.state = 'running'
                                 for no key update skip locked));
end $$;
