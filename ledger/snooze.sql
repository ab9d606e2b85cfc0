-- As release, but the job is ready only after `delay`. (release is a snooze of none, and keeps its place in the
-- queue.)

create or replace function @schema@.snooze(id bigint, gen bigint, claim uuid, delay interval, note text default null)
returns text
language plpgsql as $$
#variable_conflict use_column
declare
    j     @schema@.job := @schema@._held(snooze.id, snooze.gen, snooze.claim);
    v_now timestamptz := clock_timestamp();
begin
    if j.id is null then
        return case when @schema@._ended(snooze.id, snooze.gen, snooze.claim, 'released') then 'already'
                    else 'stale' end;
    end if;
    perform @schema@._settle(j, 'released', 'released', snooze.note, died => false, fatal => false,
                             run_at => coalesce(v_now + case when snooze.delay < interval '0' then interval '0'
                                                             else snooze.delay end, least(j.run_at, v_now)));
    return 'ok';
end $$;
