-- The holder says that it lives, and how far it is. ok; cancel: it should stop; stale: the job is no longer his, and
-- nothing was changed.
--
-- beat_at and progress stand in no index, so this is a HOT update.

create or replace function @schema@.beat(id bigint, gen bigint, claim uuid, progress json default null) returns text
language plpgsql as $$
#variable_conflict use_column
declare
    v_cancel boolean;
begin
    update @schema@.job j
       set beat_at = clock_timestamp(), progress = coalesce(beat.progress, j.progress)
     where j.id = beat.id and j.gen = beat.gen and j.claim_id = beat.claim and j.worker_id is not null
    returning j.cancel into v_cancel;
    return case when not found then 'stale' when v_cancel then 'cancel' else 'ok' end;
end $$;
