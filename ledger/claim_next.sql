-- Completes what is finished and claims up to n new jobs, in one statement and one commit: half the round trips of a
-- worker's loop.
--
-- First a row for each completed triple, tagged with complete's word; then a row for each new job, tagged `job`, as
-- claim answers it. When the claim is refused (EW400) nothing was completed either.

create or replace function @schema@.claim_next(
    queue text, worker uuid, n int, ids bigint[] default '{}', gens bigint[] default '{}', claims uuid[] default '{}'
) returns table (tag text, id bigint, gen bigint, claim_id uuid, attempt int, max_attempts int, kind text, payload json,
                 progress json, lease_ms int, deadline_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
begin
    if cardinality(claim_next.ids) = 1 then
        tag      := @schema@.complete(claim_next.ids[1], claim_next.gens[1], claim_next.claims[1]);
        id       := claim_next.ids[1];
        gen      := claim_next.gens[1];
        claim_id := claim_next.claims[1];
        return next;
    elsif cardinality(claim_next.ids) > 1 then
        return query
            select m.verdict, m.id, claim_next.gens[m.nth], claim_next.claims[m.nth], null::int, null::int, null::text,
                   null::json, null::json, null::int, null::timestamptz
              from @schema@.complete_many(claim_next.ids, claim_next.gens, claim_next.claims)
                   with ordinality as m (id, verdict, nth);
    end if;
    return query select 'job', c.* from @schema@.claim(claim_next.queue, claim_next.worker, claim_next.n) c;
end $$;
