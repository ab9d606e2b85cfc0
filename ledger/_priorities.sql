-- The priorities that the claimable jobs of one lane have, smallest first: one look in the index for each, however
-- many jobs there are. Private.
--
-- Within one priority the due jobs stand together before those that are scheduled. A query that names no priority
-- would walk over everything that is scheduled, each time that nothing is due.

create or replace function @schema@._priorities(queue text, lane smallint) returns table (priority int)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
begin
    return query
        with recursive p (priority) as (
            (select j.priority from @schema@.job j
              where j.queue = _priorities.queue and j.claimable and j.lane = _priorities.lane
              order by j.priority limit 1)
            union all
            select (select j.priority from @schema@.job j
                     where j.queue = _priorities.queue and j.claimable and j.lane = _priorities.lane
                       and j.priority > p.priority
                     order by j.priority limit 1)
              from p where p.priority is not null
        )
        select p.priority from p where p.priority is not null;
end $$;

-- Whether any claimable job of the lane is due.
create or replace function @schema@._due(queue text, lane smallint, now timestamptz) returns boolean
language plpgsql as $$
#variable_conflict use_column
begin
    return exists (select from @schema@._priorities(_due.queue, _due.lane) p
                    where (select j.run_at from @schema@.job j
                            where j.queue = _due.queue and j.claimable and j.lane = _due.lane
                              and j.priority = p.priority
                            order by j.run_at limit 1) <= _due.now);
end $$;
