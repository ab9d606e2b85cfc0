-- What becomes of a running job whose attempt did not succeed: the one place that decides, writes the attempt down,
-- leaves its open items in doubt and moves the row. fail, release, snooze, worker_dead and every recovery end here.
-- Private; the caller has locked the row and seen it running.
--
--   outcome               attempt        death     generation   run again
--   failed                charged        if died   stays        after a backoff
--   released              given back *   no        stays        when the caller says
--   interrupted           given back *   no        raised       at once
--   expired, timed_out    charged        yes       raised       after a backoff
--   worker_died           charged        if died   raised       after a backoff
--   worker_died_shared    charged        no        raised       after a backoff, and alone
--
--   * while releases < max_releases, which bounds a budget at max_attempts + max_releases claims
--
-- A job that was asked to cancel ends cancelled, one that is fatal or spent ends dead, others are ready. Answers that
-- state, or NULL when the row is no longer what the caller saw: then nothing was changed.
--
-- The generation is raised where the holder did not give the job back himself: from then on his word counts nothing.

create or replace function @schema@._settle(
    j @schema@.job, outcome text, class text, error text, died boolean, fatal boolean, run_at timestamptz
) returns text
language plpgsql as $$
#variable_conflict use_column
declare
    v_now     timestamptz := clock_timestamp();
    v_given   boolean := outcome in ('released', 'interrupted') and j.releases < j.max_releases;
    v_revoked boolean := outcome not in ('failed', 'released');
    v_told    boolean := outcome <> 'released';
    v_deaths  int := least(j.deaths, 2147483646) + _settle.died::int;
    v_left    int := greatest(j.attempts - v_given::int, 0);
    v_state   @schema@.state := case
                  when j.cancel then 'cancelled'
                  when _settle.fatal or j.fatal or v_left >= j.max_attempts or v_deaths >= j.max_deaths then 'dead'
                  else 'ready' end;
begin
    update @schema@.job x
       set state       = v_state,
           gen         = x.gen + v_revoked::int,
           attempts    = v_left,
           deaths      = v_deaths,
           releases    = x.releases + v_given::int,
           fatal       = x.fatal or _settle.fatal,
           solo        = x.solo or outcome = 'worker_died_shared',
           worker_id   = null,
           deadline_at = null,
           spared_at   = null,
           finished_at = case when v_state <> 'ready' then v_now end,
           run_at      = coalesce(_settle.run_at,
                                  v_now + coalesce((select @schema@._backoff(j.attempts, q.backoff_ms, q.backoff_cap_ms)
                                                      from @schema@.queue q where q.name = j.queue),
                                                   @schema@._backoff(j.attempts, 2000, 900000))),
           error_class = case when v_told then @schema@._text(_settle.class) else x.error_class end,
           last_error  = case when v_told then @schema@._text(_settle.error) else x.last_error end
     where x.id = j.id and x.gen = j.gen and x.worker_id is not null;
    if not found then
        return null;
    end if;

    insert into @schema@.attempt (job_id, gen, claim_id, budget_no, attempt, queue, kind, worker_id, claimed_at,
                                  ended_at, outcome, error_class, error)
    values (j.id, j.gen, j.claim_id, j.budget_no, j.attempts, j.queue, j.kind, j.worker_id, j.claimed_at,
            v_now, case when j.cancel then 'cancelled' else _settle.outcome end,
            @schema@._text(_settle.class), @schema@._text(_settle.error))
    on conflict do nothing;

    perform @schema@._doubt(j.id, j.gen);
    return v_state;
end $$;
