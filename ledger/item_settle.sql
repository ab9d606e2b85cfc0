-- A person decides a doubt: the effect was performed (done), or it was not (error, so it may be tried again).
--
-- ok; stale: the item is in no doubt; gone: there is no such item. A running item counts as a doubt once its attempt
-- is over, even before the sweep has said so. Any other state than these two is refused by the type.

create or replace function @schema@.item_settle(id bigint, key text, state text, by text) returns text
language plpgsql as $$
#variable_conflict use_column
declare
    v_key   text := @schema@._key(item_settle.key);
    v_state @schema@.settlement := item_settle.state;
    v_job   record;
    v_item  record;
begin
    perform @schema@._durable();
    select j.state, j.gen into v_job from @schema@.job j where j.id = item_settle.id for no key update;
    select i.state, i.gen, i.tries into v_item from @schema@.item i
     where i.job_id = item_settle.id and i.key = v_key for no key update;
    if not found then
        return 'gone';
    end if;
    if v_state is null or not (v_item.state = 'in_doubt' or v_item.state = 'running'
                               and (v_job.state <> 'running' or v_item.gen < v_job.gen)) then
        return 'stale';
    end if;

    update @schema@.item i set state = v_state, updated_at = clock_timestamp()
     where i.job_id = item_settle.id and i.key = v_key;
    insert into @schema@.audit (job_id, verb, by, was)
    values (item_settle.id, 'item_settle', coalesce(@schema@._text(item_settle.by), ''),
            jsonb_build_object('key', v_key, 'state', v_item.state, 'gen', v_item.gen, 'tries', v_item.tries,
                               'now', v_state));
    return 'ok';
end $$;
