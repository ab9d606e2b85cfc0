-- May the effect `key` of this job be performed now?
--
-- go: yes, and it is recorded as begun. done: it was performed, never again. in_doubt: an earlier claim began it and
-- never said how it ended, which is the honest answer for a call that costs money. cancel, stale: stop.
--
-- The same claim may ask again, and what ended in error may be tried again. For a doubt, force decides; where force
-- is NULL the queue does (on_doubt): redo goes, skip takes it as done, ask leaves it to the caller.

create or replace function @schema@.item_begin(id bigint, gen bigint, claim uuid, key text, force boolean default null)
returns text
language plpgsql as $$
#variable_conflict use_column
declare
    j       @schema@.job := @schema@._held(item_begin.id, item_begin.gen, item_begin.claim);
    v_key   text := @schema@._key(item_begin.key);
    v_item  record;
    v_doubt text;
begin
    perform @schema@._durable();
    if j.id is null then
        return 'stale';
    end if;
    if j.cancel then
        return 'cancel';
    end if;

    insert into @schema@.item (job_id, key, gen, state) values (item_begin.id, v_key, item_begin.gen, 'running')
    on conflict (job_id, key) do nothing;
    if found then
        return 'go';
    end if;

    select i.state, i.gen into v_item from @schema@.item i
     where i.job_id = item_begin.id and i.key = v_key for no key update;
    if v_item.state = 'done' then
        return 'done';
    end if;
    if v_item.state in ('running', 'in_doubt') and v_item.gen <> item_begin.gen then
        v_doubt := case when force then 'redo' when not force then 'ask'
                        else (select q.on_doubt from @schema@.queue q where q.name = j.queue) end;
        if v_doubt = 'skip' then
            update @schema@.item i set state = 'done', updated_at = clock_timestamp()
             where i.job_id = item_begin.id and i.key = v_key;
            return 'done';
        elsif v_doubt is distinct from 'redo' then
            update @schema@.item i set state = 'in_doubt', updated_at = clock_timestamp()
             where i.job_id = item_begin.id and i.key = v_key and i.state <> 'in_doubt';
            return 'in_doubt';
        end if;
    end if;

    update @schema@.item i
       set gen = item_begin.gen, state = 'running', updated_at = clock_timestamp(), error = null,
           tries = least(i.tries, 2147483646) + 1
     where i.job_id = item_begin.id and i.key = v_key;
    return 'go';
end $$;
