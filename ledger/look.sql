-- What is with this job? Reading heals: when its holder is silent beyond the lease it is recovered first, so that
-- nobody who looks is told `running` by a dead lock. A healthy row is not touched; on a standby, in a read-only
-- transaction, or while the pulse is not fresh, nothing is written at all.
--
-- status: ready, scheduled, running, expired, done, dead, cancelled, discarded. No row: gone.

create or replace function @schema@.look(id bigint)
returns table (status text, gen bigint, attempts int, max_attempts int, deaths int, releases int, silent interval,
               error_class text, last_error text, progress json, result json)
language plpgsql as $$
#variable_conflict use_column
declare
    v_now   timestamptz := clock_timestamp();
    v_quiet timestamptz := @schema@._quiet(v_now);
begin
    if v_quiet is not null and current_setting('transaction_read_only') = 'off'
       and exists (select from @schema@.job j
                    where j.id = look.id and j.worker_id is not null and @schema@._silent(j, v_now, v_quiet)) then
        perform from @schema@._recover(null, look.id, 1, v_now, v_quiet);
    end if;
    return query
        select @schema@._status(j, v_now, coalesce(v_quiet, p.quiet_from)), j.gen, j.attempts, j.max_attempts, j.deaths,
               j.releases, case when isfinite(j.beat_at) then v_now - j.beat_at end, j.error_class, j.last_error,
               j.progress, j.result
          from @schema@.job j left join @schema@.pulse p on true
         where j.id = look.id;
end $$;
