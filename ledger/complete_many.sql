-- complete for many jobs in one statement: one answer for each triple, in the order given.
--
-- The rows are locked by id, so that two such statements never wait for each other in a ring.

create or replace function @schema@.complete_many(
    ids bigint[], gens bigint[], claims uuid[], results json[] default null
) returns table (id bigint, verdict text)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now  timestamptz := clock_timestamp();
    v_done bigint[];
begin
    with given as materialized (
        select distinct on (t.id, t.gen, t.claim_id) t.id, t.gen, t.claim_id, t.result
          from unnest(complete_many.ids, complete_many.gens, complete_many.claims, complete_many.results)
               as t (id, gen, claim_id, result)
         order by t.id, t.gen, t.claim_id
    ), locked as materialized (
        select j.id, g.result
          from given g
          join @schema@.job j on j.id = g.id and j.gen = g.gen and j.claim_id = g.claim_id and j.state = 'running'
         order by j.id
           for no key update of j
    ), done as (
        update @schema@.job j
           set state = 'done', finished_at = v_now, result = l.result, worker_id = null
          from locked l
         where j.id = l.id and j.state = 'running'
        returning j.id
    )
    select array_agg(d.id) into v_done from done d;

    return query
        select t.id, case when j.id is null then 'gone'
                          when j.gen is distinct from t.gen or j.claim_id is distinct from t.claim_id
                               or j.state <> 'done' then 'stale'
                          when j.id = any (v_done) then 'ok'
                          else 'already' end
          from unnest(complete_many.ids, complete_many.gens, complete_many.claims)
               with ordinality as t (id, gen, claim_id, nth)
          left join @schema@.job j on j.id = t.id
         order by t.nth;
end $$;
