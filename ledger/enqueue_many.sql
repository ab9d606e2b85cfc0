-- Puts a job into a queue for each payload, and answers how many: 0 for an unknown queue.

create or replace function @schema@.enqueue_many(queue text, kind text, payloads json[]) returns bigint
language plpgsql as $$
#variable_conflict use_column
declare
    q       @schema@.queue;
    v_ids   regclass := pg_get_serial_sequence($name$@schema@.job$name$, 'id');
    v_kind  text := coalesce(@schema@._text(enqueue_many.kind), '');
    v_count bigint;
begin
    select * into q from @schema@.queue x where x.name = enqueue_many.queue;
    if not found then
        return 0;
    end if;

    with given as materialized (
        select nextval(v_ids) as id, p.payload, octet_length(p.payload::text) > 300 as big
          from unnest(enqueue_many.payloads) as p (payload)
    ), made as (
        insert into @schema@.job (id, queue, kind, payload, lease_ms, hard_timeout_ms, max_attempts, max_deaths,
                                  max_releases)
        select g.id, q.name, v_kind, case when not g.big then g.payload end, q.lease_ms, q.hard_timeout_ms,
               q.max_attempts, q.max_deaths, q.max_releases
          from given g
        returning id
    ), kept as (
        insert into @schema@.payload (job_id, payload)
        select g.id, g.payload from given g where g.big
    )
    select count(*) into v_count from made;
    return v_count;
end $$;
