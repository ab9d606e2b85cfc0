-- Puts one job into a queue.
--
-- Answers its id, whether it is new, and its status in look's words. With a dedup key that an unfinished or dead job
-- of the queue has, nothing is made: the answer is that job. An unknown queue answers no_queue and a NULL id.
--
-- The queue's policy is copied, so that later changes of it touch later jobs only. A holder of the key may finish
-- between our insert and our look: then we try again, and so no order is lost. notify is a hint to listeners, sent
-- only where the job is due: pg_notify makes all committers of the database stand in one line.

create or replace function @schema@.enqueue(
    queue text, kind text default '', payload json default null, dedup text default null,
    run_at timestamptz default null, priority int default 0, concurrency_key text default null,
    max_attempts int default null, notify boolean default false, delay interval default null
) returns table (id bigint, created boolean, status text)
language plpgsql as $$
#variable_conflict use_column
declare
    q       @schema@.queue;
    v_now   timestamptz := clock_timestamp();
    v_due   timestamptz := coalesce(enqueue.run_at, v_now + greatest(enqueue.delay, interval '0'));
    v_dedup text := @schema@._key(enqueue.dedup);
    v_big   boolean := coalesce(octet_length(enqueue.payload::text) > 300, false);
begin
    select * into q from @schema@.queue x where x.name = enqueue.queue;
    if not found then
        return query select null::bigint, false, 'no_queue';
        return;
    end if;

    loop
        insert into @schema@.job as j (queue, kind, payload, dedup_key, run_at, priority, concurrency_key,
                                       lease_ms, hard_timeout_ms, max_attempts, max_deaths, max_releases)
        values (q.name, coalesce(@schema@._text(enqueue.kind), ''), case when not v_big then enqueue.payload end,
                v_dedup, v_due, coalesce(enqueue.priority, 0), @schema@._key(enqueue.concurrency_key),
                q.lease_ms, q.hard_timeout_ms, coalesce(enqueue.max_attempts, q.max_attempts), q.max_deaths,
                q.max_releases)
        on conflict (queue, dedup_key) where dedup_key is not null and state in ('ready', 'running', 'dead') do nothing
        returning j.id into id;

        if found then
            if v_big then
                insert into @schema@.payload (job_id, payload) values (enqueue.id, enqueue.payload);
            end if;
            if enqueue.notify and v_due <= v_now then
                perform pg_notify(@schema@._channel(), q.name);
            end if;
            created := true;
            status  := case when v_due > v_now then 'scheduled' else 'ready' end;
            return next;
            return;
        end if;

        -- The clock of the query itself: what it sees was committed before that, and cannot be due later.
        return query
            select j.id, false, @schema@._status(j, clock_timestamp(), @schema@._quiet(clock_timestamp()))
              from @schema@.job j
             where j.queue = q.name and j.dedup_key = v_dedup and j.state in ('ready', 'running', 'dead');
        if found then
            return;
        end if;
    end loop;
end $$;
