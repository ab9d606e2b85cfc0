-- Keeps the job for the rest of the caller's transaction, or raises EW409: so his own writes in this database and the
-- fence are one atom. While he holds it, recovery passes the job by, whatever its lease says.
--
-- For no key update: complete may follow in the same transaction, an item's foreign key does not wait, and two
-- holders exclude each other. (As for share it would deadlock with complete.)

create or replace function @schema@.hold(id bigint, gen bigint, claim uuid) returns void
language plpgsql as $$
#variable_conflict use_column
begin
    perform from @schema@.job j
      where j.id = hold.id and j.gen = hold.gen and j.claim_id = hold.claim and j.worker_id is not null
        for no key update;
    if not found then
        raise exception 'endwell: job % is no longer held by generation %', hold.id, hold.gen
            using errcode = 'EW409', hint = 'Roll back: another attempt has it, or it has ended.';
    end if;
end $$;
