-- Whether silence can be judged now. Private.
--
-- A job's silence means nothing while nobody could be heard: when the sweep was away, or the database was down, was
-- promoted, or its clock jumped back, every worker is silent without fault. The sweep (reap) notices that by its last
-- tick and by the server's start time and timeline, and from then on (quiet_from) everybody has a whole lease to
-- speak.
--
-- _quiet answers quiet_from while the pulse is fresh, NULL when nobody may judge.

create or replace function @schema@._timeline() returns text
language sql volatile as $$
    select case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_lsn()), 8) end
$$;

create or replace function @schema@._quiet(now timestamptz) returns timestamptz
language plpgsql as $$
#variable_conflict use_column
declare
    v_timeline text := @schema@._timeline();
begin
    return (select p.quiet_from
              from @schema@.pulse p
             where p.tick_at between _quiet.now - p.stall_ms * interval '1 ms' and _quiet.now + interval '1 s'
               and p.server_at = pg_postmaster_start_time()
               and p.timeline = v_timeline);
end $$;
