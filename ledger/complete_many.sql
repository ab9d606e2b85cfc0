-- complete for many jobs in one statement: one answer for each triple, in the order given.
--
-- The rows are locked by id, so that two such statements never wait for each other in a ring: the triples are sorted,
-- and the only join that the planner may choose keeps their order.

create or replace function @schema@.complete_many(
    ids bigint[], gens bigint[], claims uuid[], results json[] default null
) returns table (id bigint, verdict text)
language plpgsql
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    v_now  timestamptz := clock_timestamp();
    v_nths bigint[];
begin
    with given as materialized (
        select t.id, t.gen, t.claim_id, t.result, t.nth
          from unnest(complete_many.ids, complete_many.gens, complete_many.claims, complete_many.results)
               with ordinality as t (id, gen, claim_id, result, nth)
         order by t.id, t.nth
    ), done as (
        update @schema@.job j
           set state = 'done', finished_at = v_now, result = g.result, worker_id = null
          from given g
         where j.id = g.id and j.gen = g.gen and j.claim_id = g.claim_id and j.worker_id is not null
        returning g.nth
    )
    select array_agg(d.nth) into v_nths from done d;

    if cardinality(v_nths) = cardinality(complete_many.ids) then
        return query select t.id, 'ok' from unnest(complete_many.ids) as t (id);
        return;
    end if;
    return query
        select t.id, case when j.id is null then 'gone'
                          when t.nth = any (v_nths) then 'ok'
                          when j.gen = t.gen and j.claim_id = t.claim_id and j.state = 'done' then 'already'
                          else 'stale' end
          from unnest(complete_many.ids, complete_many.gens, complete_many.claims)
               with ordinality as t (id, gen, claim_id, nth)
          left join @schema@.job j on j.id = t.id
         order by t.nth;
end $$;
