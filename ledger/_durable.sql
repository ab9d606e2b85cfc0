-- A claim, and an effect that costs money, must not be forgotten by a crash of the server: an answer that was given
-- and then lost is given twice. So these verbs commit synchronously even where the role or the database does not.
-- Private.
--
-- set_config(…, true) and not a SET clause of the function: that would be undone before COMMIT, where it counts.
-- remote_apply stays: it is more than on.

create or replace function @schema@._durable() returns void
language plpgsql as $$
begin
    if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
        perform set_config('synchronous_commit', 'on', true);
    end if;
end $$;
