-- Locks those of the jobs that are dead, in id order, and writes down what each was before a person's hand. Private.
-- Answers their ids.

create or replace function @schema@._lock_dead(ids bigint[], verb text, by text) returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
    v_ids bigint[];
begin
    with locked as materialized (
        select j.* from @schema@.job j
         where j.id = any (_lock_dead.ids) and j.is_dead
         order by j.id
           for update
    ), noted as (
        insert into @schema@.audit (job_id, verb, by, was)
        select l.id, _lock_dead.verb, coalesce(@schema@._text(_lock_dead.by), ''),
               jsonb_build_object('state', l.state, 'gen', l.gen, 'budget_no', l.budget_no, 'attempts', l.attempts,
                                  'deaths', l.deaths, 'releases', l.releases, 'fatal', l.fatal, 'solo', l.solo,
                                  'error_class', l.error_class, 'last_error', l.last_error)
          from locked l
        returning job_id
    )
    select coalesce(array_agg(n.job_id), '{}') into v_ids from noted n;
    return v_ids;
end $$;

-- An answer for each id that was asked for, in that order.
create or replace function @schema@._answers(ids bigint[], done bigint[]) returns table (id bigint, answer text)
language plpgsql as $$
#variable_conflict use_column
begin
    return query
    select t.id, case when t.id = any (_answers.done) then 'ok'
                      when exists (select from @schema@.job j where j.id = t.id) then 'stale'
                      else 'gone' end
      from unnest(_answers.ids) with ordinality as t (id, nth)
     order by t.nth;
end $$;
