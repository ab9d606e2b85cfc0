-- How long the holder may go on without another beat: until the lease or the deadline ends, whichever is first;
-- negative when that is over and nobody has taken the job yet. NULL: not the holder any more, or asked to cancel.

create or replace function @schema@.lease_left(id bigint, gen bigint, claim uuid) returns interval
language plpgsql as $$
begin
    return (select least(coalesce(j.beat_at, j.claimed_at, j.created_at) + j.lease_ms * interval '1 ms', j.deadline_at)
                   - clock_timestamp()
              from @schema@.job j
             where j.id = lease_left.id and j.gen = lease_left.gen and j.claim_id = lease_left.claim
               and j.worker_id is not null and not j.cancel);
end $$;
