-- The job is done. ok; already: this very claim said so before; stale: another attempt has it, or it ended otherwise;
-- gone: there is no such job.
--
-- Accepted after the lease ran out, and after a cancel was asked, as long as nobody took the job: the work is done.

create or replace function @schema@.complete(id bigint, gen bigint, claim uuid, result json default null) returns text
language plpgsql as $$
#variable_conflict use_column
declare
    v_word text;
begin
    update @schema@.job j
       set state = 'done', finished_at = clock_timestamp(), result = complete.result, worker_id = null
     where j.id = complete.id and j.gen = complete.gen and j.claim_id = complete.claim and j.worker_id is not null;
    if found then
        return 'ok';
    end if;
    select case when j.gen = complete.gen and j.claim_id = complete.claim and j.state = 'done' then 'already'
                else 'stale' end
      into v_word from @schema@.job j where j.id = complete.id;
    return coalesce(v_word, 'gone');
end $$;
