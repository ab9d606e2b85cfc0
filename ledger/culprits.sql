-- Which faults cost the most attempts: one line for each (queue, kind, error class), the worst first, with up to ten
-- of its jobs. Attempts that were given back, shared or cancelled accuse nobody.

create or replace function @schema@.culprits(since interval default '24 hours')
returns table (queue text, kind text, error_class text, failures bigint, distinct_jobs bigint, jobs bigint[],
               first_at timestamptz, last_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
begin
    return query
        select a.queue::text, a.kind, a.error_class, count(*), count(distinct a.job_id),
               (array_agg(distinct a.job_id))[1:10], min(a.ended_at), max(a.ended_at)
          from @schema@.attempt a
         where a.ended_at > clock_timestamp() - culprits.since
           and a.outcome in ('failed', 'expired', 'timed_out', 'worker_died')
         group by a.queue, a.kind, a.error_class
         order by count(*) desc, a.queue, a.kind, a.error_class;
end $$;
