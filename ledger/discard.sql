-- A person gives dead jobs up: they never run again and their dedup keys are free. ok, stale and gone as in retry.

create or replace function @schema@.discard(ids bigint[], by text) returns table (id bigint, answer text)
language plpgsql as $$
#variable_conflict use_column
declare
    v_ids bigint[] := @schema@._lock_dead(discard.ids, 'discard', discard.by);
begin
    update @schema@.job j set state = 'discarded', finished_at = clock_timestamp()
     where j.id = any (v_ids);
    return query select a.id, a.answer from @schema@._answers(discard.ids, v_ids) a;
end $$;
