-- The effect `key` ended: ok or not, with its result or error. stale: this claim does not hold the job, or did not
-- begin the effect; nothing was changed. What is done stays done, and may be said again.

create or replace function @schema@.item_end(
    id bigint, gen bigint, claim uuid, key text, ok boolean, result json default null, error text default null
) returns text
language plpgsql as $$
#variable_conflict use_column
declare
    j @schema@.job := @schema@._held(item_end.id, item_end.gen, item_end.claim);
begin
    perform @schema@._durable();
    if j.id is null then
        return 'stale';
    end if;

    update @schema@.item i
       set state = case when item_end.ok then 'done' else 'error' end, updated_at = clock_timestamp(),
           result = coalesce(item_end.result, i.result), error = @schema@._text(item_end.error)
     where i.job_id = item_end.id and i.key = @schema@._key(item_end.key) and i.gen = item_end.gen
       and (i.state <> 'done' or item_end.ok);
    return case when found then 'ok' else 'stale' end;
end $$;
