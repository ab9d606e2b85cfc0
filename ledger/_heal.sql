-- Recovers up to ten expired jobs of a queue on behalf of a claim that found too few, if the pulse is fresh. Private.
-- Answers whether it found any.
--
-- A job that was claimed within the last second cannot be expired: so a busy queue of short jobs costs nothing here.

create or replace function @schema@._heal(queue text) returns boolean
language plpgsql as $$
#variable_conflict use_column
declare
    v_now   timestamptz := clock_timestamp();
    v_quiet timestamptz;
begin
    if not exists (select from @schema@.job j
                    where j.queue = _heal.queue and j.state = 'running' and j.claimed_at < v_now - interval '1 s') then
        return false;
    end if;
    v_quiet := @schema@._quiet(v_now);
    return v_quiet is not null
           and exists (select from @schema@._recover(_heal.queue, null, 10, v_now, v_quiet));
end $$;
