-- Whether a concurrency key admits one more running job. Private; asked for one row at a time, while claiming.
--
-- The gate of the key is tried, never waited for: we may hold jobs. Who has it counts exactly, because whoever had it
-- before has committed. It stays ours until our commit.

-- How many more jobs of a key may run, by what is committed; the gate makes that exact. (_heads asks it for thousands of
-- keys at once, in its own query: half as dear.)
create or replace function @schema@._key_room(queue text, key text) returns bigint
language plpgsql as $$
#variable_conflict use_column
begin
    return coalesce((select q.max_running_key from @schema@.queue q where q.name = _key_room.queue), 1)
           - (select count(*) from @schema@.job j
               where j.queue = _key_room.queue and j.worker_id is not null and j.concurrency_key = _key_room.key);
end $$;

create or replace function @schema@._key_is_free(queue text, key text, taken int) returns boolean
language plpgsql as $$
#variable_conflict use_column
begin
    if not pg_try_advisory_xact_lock(@schema@._space(),
                                     @schema@._gate('key', _key_is_free.queue || chr(31) || _key_is_free.key)) then
        return false;
    end if;
    return @schema@._key_room(_key_is_free.queue, _key_is_free.key) > _key_is_free.taken;
end $$;
