-- The priorities that a queue's plain, or keyed, claimable jobs have, smallest first: one look in the index for each,
-- however many jobs there are. Private.
--
-- Within one priority the due jobs stand together before those that are scheduled. A query that names no priority
-- would walk over everything that is scheduled, each time that nothing is due.

create or replace function @schema@._plain_priorities(queue text) returns table (priority int)
language plpgsql as $$
#variable_conflict use_column
begin
    return query
        with recursive p (priority) as (
            (select j.priority from @schema@.job j
              where j.queue = _plain_priorities.queue and j.claimable and not j.solo and j.concurrency_key is null
              order by j.concurrency_key, j.priority limit 1)
            union all
            select (select j.priority from @schema@.job j
                     where j.queue = _plain_priorities.queue and j.claimable and not j.solo
                       and j.concurrency_key is null and j.priority > p.priority
                     order by j.concurrency_key, j.priority limit 1)
              from p where p.priority is not null
        )
        select p.priority from p where p.priority is not null;
end $$;

create or replace function @schema@._keyed_priorities(queue text) returns table (priority int)
language plpgsql as $$
#variable_conflict use_column
begin
    return query
        with recursive p (priority) as (
            (select j.priority from @schema@.job j
              where j.queue = _keyed_priorities.queue and j.claimable and not j.solo and j.concurrency_key is not null
              order by j.priority limit 1)
            union all
            select (select j.priority from @schema@.job j
                     where j.queue = _keyed_priorities.queue and j.claimable and not j.solo
                       and j.concurrency_key is not null and j.priority > p.priority
                     order by j.priority limit 1)
              from p where p.priority is not null
        )
        select p.priority from p where p.priority is not null;
end $$;

-- Whether any keyed job is due.
create or replace function @schema@._keyed_is_due(queue text, now timestamptz) returns boolean
language plpgsql as $$
#variable_conflict use_column
begin
    return exists (select from @schema@._keyed_priorities(_keyed_is_due.queue) p
                    where (select j.run_at from @schema@.job j
                            where j.queue = _keyed_is_due.queue and j.claimable and not j.solo
                              and j.concurrency_key is not null and j.priority = p.priority
                            order by j.run_at limit 1) <= _keyed_is_due.now);
end $$;
