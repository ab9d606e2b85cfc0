-- The attempt failed. retry: it runs again, after retry_in or a backoff; dead: its attempts or deaths are spent, or
-- it was fatal; cancelled: that had been asked; already: this very claim said so before; stale: the job is not his.
--
-- died: the command, not its runner, was killed (signal, OOM, stall, hard limit). That is a death too: a job that
-- kills its command is as poisonous as one that kills its worker.

create or replace function @schema@.fail(
    id bigint, gen bigint, claim uuid, error text, class text default 'error', retry_in interval default null,
    fatal boolean default false, died boolean default false
) returns text
language plpgsql as $$
#variable_conflict use_column
declare
    j @schema@.job := @schema@._held(fail.id, fail.gen, fail.claim);
begin
    if j.id is null then
        return case when @schema@._ended(fail.id, fail.gen, fail.claim, 'failed') then 'already' else 'stale' end;
    end if;
    return case @schema@._settle(j, 'failed', coalesce(fail.class, 'error'), fail.error,
                                 died => coalesce(fail.died, false), fatal => coalesce(fail.fatal, false),
                                 run_at => clock_timestamp() + case when fail.retry_in < interval '0' then interval '0'
                                                                    else fail.retry_in end)
                when 'ready' then 'retry' when 'dead' then 'dead' else 'cancelled' end;
end $$;
