-- The two keys of an advisory lock. Private.
--
-- _space is the oid of this schema, so that two ledgers in one database never wait for each other; _gate is what is
-- locked in it. Two gates with one hash only wait for each other needlessly.

create or replace function @schema@._space() returns int
language sql stable parallel safe as $$
    select $name$@schema@$name$::regnamespace::oid::int
$$;

create or replace function @schema@._gate(kind text, name text) returns int
language sql immutable parallel safe as $$
    select hashtext(kind || chr(31) || name)
$$;

-- Who waits at a gate and then looks must see what was committed meanwhile.
create or replace function @schema@._read_committed(what text) returns void
language plpgsql as $$
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception 'endwell: a % needs READ COMMITTED, this transaction is %',
            _read_committed.what, upper(current_setting('transaction_isolation')) using errcode = 'EW400';
    end if;
end $$;

-- The channel on which enqueue(notify => true) says that there is work: one for each schema; the message is the
-- queue.
create or replace function @schema@._channel() returns text
language sql stable parallel safe as $$
    select left(n.nspname, 63) from pg_catalog.pg_namespace n where n.oid = $name$@schema@$name$::regnamespace
$$;
