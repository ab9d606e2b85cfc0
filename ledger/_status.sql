-- A job's state in one word for people, as look, enqueue and the command line say it. Private.

create or replace function @schema@._status(j @schema@.job, now timestamptz, quiet timestamptz) returns text
language plpgsql stable as $$
begin
    return case when j.is_dead then 'dead'
                when j.state = 'ready' and j.run_at > now then 'scheduled'
                when @schema@._expired(j, now, quiet) then 'expired'
                else j.state::text end;
end $$;
