-- Nobody wants this job any more. cancelled: it was ready or dead, and is not run. asked: it is running; its holder
-- hears of it at the next beat, and it ends cancelled unless he completes it. already: it has ended. gone: there is
-- no such job.

create or replace function @schema@.cancel(id bigint) returns text
language plpgsql as $$
#variable_conflict use_column
declare
    v_word text;
begin
    update @schema@.job j
       set cancel = true,
           state = case when j.state = 'running' then j.state else 'cancelled' end,
           finished_at = case when j.state = 'running' then j.finished_at else clock_timestamp() end
     where j.id = cancel.id and j.state in ('ready', 'running', 'dead')
    returning case when j.state = 'running' then 'asked' else 'cancelled' end into v_word;
    if found then
        return v_word;
    end if;
    return case when exists (select from @schema@.job j where j.id = cancel.id) then 'already' else 'gone' end;
end $$;
