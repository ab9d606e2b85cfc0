-- A process says that it is there and will claim; answers its id. It may say so again.
--
-- A worker that is draining or gone never comes up again under the same id: a late message of a process that was
-- given up for dead must not open the door for it. The next process takes a new id.

create or replace function @schema@.worker_up(
    host text default '', pid int default null, supervisor uuid default null, id uuid default gen_random_uuid()
) returns uuid
language plpgsql as $$
#variable_conflict use_column
declare
    v_id uuid := coalesce(worker_up.id, gen_random_uuid());
begin
    insert into @schema@.worker as w (id, host, pid, supervisor)
    values (v_id, coalesce(@schema@._text(worker_up.host), ''), worker_up.pid, worker_up.supervisor)
    on conflict (id) do update set beat_at = clock_timestamp() where w.state = 'up';
    return v_id;
end $$;
