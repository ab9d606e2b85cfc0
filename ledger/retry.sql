-- A person gives dead jobs a new budget: attempts, deaths and releases begin at 0, and they are ready now. Progress,
-- items and total_attempts stay, so paid effects are not paid again.
--
-- ok; stale: that job is not dead; gone: there is no such job. The generation is raised: nobody who ever held the job
-- can speak for the new budget.

create or replace function @schema@.retry(ids bigint[], by text) returns table (id bigint, answer text)
language plpgsql as $$
#variable_conflict use_column
declare
    v_ids bigint[] := @schema@._lock_dead(retry.ids, 'retry', retry.by);
begin
    update @schema@.job j
       set state = 'ready', attempts = 0, deaths = 0, releases = 0, fatal = false, solo = false, cancel = false,
           gen = j.gen + 1, budget_no = least(j.budget_no, 2147483646) + 1, claim_id = null, run_at = clock_timestamp(),
           claimed_at = null, beat_at = null, deadline_at = null, finished_at = null, spared_at = null
     where j.id = any (v_ids);
    return query select a.id, a.answer from @schema@._answers(retry.ids, v_ids) a;
end $$;
