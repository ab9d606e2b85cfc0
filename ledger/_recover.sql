-- Takes expired jobs from their silent holders: of one queue, or one job. Private.
--
-- The cohort is fixed once, at most n rows, the oldest claims first. Locked rows are passed by: a completion, a beat
-- or a holder's own transaction is under way there, so they are alive. _settle compares generation and state once
-- more.

create or replace function @schema@._recover(
    of_queue text, only_job bigint, n int, now timestamptz, quiet timestamptz
) returns table (id bigint, gen bigint, verdict text)
language plpgsql set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_cohort @schema@.job[];
    j        @schema@.job;
    v_late   boolean;
begin
    if _recover.only_job is not null then
        v_cohort := array(select x from @schema@.job x
                           where x.id = _recover.only_job and x.worker_id is not null
                             and @schema@._silent(x, _recover.now, _recover.quiet)
                             and @schema@._expired(x, _recover.now, _recover.quiet)
                             for no key update skip locked);
    else
        v_cohort := array(select x from @schema@.job x
                           where x.queue = _recover.of_queue and x.state = 'running'
                             and @schema@._silent(x, _recover.now, _recover.quiet)
                             and @schema@._expired(x, _recover.now, _recover.quiet)
                           order by x.claimed_at, x.id
                           limit _recover.n
                             for no key update skip locked);
    end if;

    foreach j in array v_cohort loop
        v_late  := coalesce(j.deadline_at < _recover.now, false);
        id      := j.id;
        gen     := j.gen + 1;
        verdict := @schema@._settle(
            j,
            case when v_late then 'timed_out' else 'expired' end,
            case when v_late then 'timed_out' else 'expired' end,
            case when v_late then 'the attempt ran past its deadline'
                 else 'the attempt ended without a report: nothing was heard of it for a whole lease' end,
            died => true, fatal => false, run_at => null);
        if verdict is not null then
            return next;
        end if;
    end loop;
end $$;
