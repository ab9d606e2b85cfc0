-- Keeps the job for the rest of the caller's transaction, or raises EW409: so his own writes in this database and the
-- fence are one atom. While he holds it, recovery passes the job by, whatever its lease says.
--
-- For no key update: complete may follow in the same transaction, an item's foreign key does not wait, and two
-- holders exclude each other. (As for share it would deadlock with complete.)

create or replace function @schema@.hold(id bigint, gen bigint, claim uuid) returns void
language plpgsql as $$
#variable_conflict use_column
declare
    j @schema@.job := @schema@._held(hold.id, hold.gen, hold.claim);
begin
    if j.id is null then
        raise exception 'endwell: job % is no longer held by generation %', hold.id, hold.gen
            using errcode = 'EW409', hint = 'Roll back: another attempt has it, or it has ended.';
    end if;
end $$;
