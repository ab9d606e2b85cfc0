-- A worker says that all its jobs live: one answer for each triple, in the order given. ok, cancel and stale as in
-- beat; busy: the row is locked, by a holder's own transaction for example. It was not extended, and nobody waited:
-- one held row must not hold up the other beats.
--
-- Marks the worker as seen, at most every ten seconds.

create or replace function @schema@.beat_many(ids bigint[], gens bigint[], claims uuid[])
returns table (id bigint, verdict text)
language plpgsql
set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off set enable_bitmapscan = off
set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := clock_timestamp();
begin
    update @schema@.worker w set beat_at = v_now
     where w.id = any (array(select v.id from @schema@.worker v
                              where v.id = any (array(select distinct j.worker_id from @schema@.job j
                                                       where j.id = any (beat_many.ids) and j.worker_id is not null
                                                         and j.claim_id = any (beat_many.claims)))
                                and v.beat_at < v_now - interval '10 s'
                                for no key update skip locked));
    return query
        with given as materialized (
            select t.id, t.gen, t.claim_id, t.nth
              from unnest(beat_many.ids, beat_many.gens, beat_many.claims) with ordinality as t (id, gen, claim_id, nth)
        ), seen as materialized (
            select j.id, j.gen, j.claim_id
              from @schema@.job j
             where j.id = any (beat_many.ids) and j.worker_id is not null
        ), locked as materialized (
            select j.id
              from given g
              join @schema@.job j on j.id = g.id and j.gen = g.gen and j.claim_id = g.claim_id
             where j.worker_id is not null
             order by j.id
               for no key update of j skip locked
        ), beaten as (
            update @schema@.job j set beat_at = v_now
             where j.id = any (array(select l.id from locked l))
            returning j.id, j.gen, j.claim_id, j.cancel
        )
        select g.id, case when b.cancel then 'cancel' when b.id is not null then 'ok'
                          when s.id is not null then 'busy' else 'stale' end
          from given g
          left join beaten b on b.id = g.id and b.gen = g.gen and b.claim_id = g.claim_id
          left join seen s on s.id = g.id and s.gen = g.gen and s.claim_id = g.claim_id
         order by g.nth;
end $$;
