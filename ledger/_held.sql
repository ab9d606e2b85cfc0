-- The row of a running job, locked, for him who holds it; a row of NULLs for everybody else. Private.

create or replace function @schema@._held(id bigint, gen bigint, claim uuid) returns @schema@.job
language plpgsql as $$
#variable_conflict use_column
declare
    j @schema@.job;
begin
    select * into j from @schema@.job x
     where x.id = _held.id and x.gen = _held.gen and x.claim_id = _held.claim and x.worker_id is not null
       for no key update;
    return j;
end $$;

-- Whether this very claim has ended this way before: what was said twice is answered `already`.
create or replace function @schema@._ended(id bigint, gen bigint, claim uuid, outcome text) returns boolean
language plpgsql as $$
#variable_conflict use_column
begin
    return exists (select from @schema@.attempt a
                    where a.job_id = _ended.id and a.gen = _ended.gen and a.claim_id = _ended.claim
                      and a.outcome in (_ended.outcome, 'cancelled'));
end $$;
