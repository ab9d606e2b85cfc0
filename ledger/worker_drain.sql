-- From now on this worker claims nothing: answers how many jobs it still holds, a number that can only shrink. NULL:
-- draining is set, but a claim of it is still in flight after wait_ms; call again.
--
-- draining is set without a wait; then the worker's gate is ours alone only when every claim that came before has
-- committed, and the count, a statement of its own, sees what they took. Claims that come meanwhile stand in line
-- behind us and then see draining. An unknown id leaves a tombstone: a worker that comes up late finds its door
-- closed.

create or replace function @schema@.worker_drain(worker uuid, wait_ms int default 500) returns bigint
language plpgsql as $$
#variable_conflict use_column
declare
    v_timeout text := current_setting('lock_timeout');
begin
    perform @schema@._read_committed('drain');
    insert into @schema@.worker as w (id, state) values (worker_drain.worker, 'draining')
    on conflict (id) do update set state = 'draining', beat_at = clock_timestamp() where w.state = 'up';

    begin
        perform set_config('lock_timeout', greatest(coalesce(worker_drain.wait_ms, 500), 1) || 'ms', true);
        perform pg_advisory_xact_lock(@schema@._space(), @schema@._gate('worker', worker_drain.worker::text));
        perform set_config('lock_timeout', v_timeout, true);
    exception when lock_not_available then
        return null;
    end;
    return (select count(*) from @schema@.job j where j.worker_id = worker_drain.worker);
end $$;
