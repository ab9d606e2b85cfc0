-- What `endwell ledger migrate` did: which files, of which version, when and by whom.
--
-- The first file of all: it makes the schema where a person with more rights has not made it already, for to make one
-- takes a right on the whole database even when there is nothing to make. (to_regnamespace() would answer from a
-- cache, which does not know yet what somebody else has just committed.)

do $do$ begin
    if not exists (select from pg_catalog.pg_namespace
                    where '"' || replace(nspname, '"', '""') || '"' = '@schema@') then
        create schema @schema@;
    end if;
end $do$;

create table if not exists @schema@.migration (
    name    text collate "C" primary key,
    version int not null,
    digest  text not null,
    at      timestamptz not null default clock_timestamp(),
    by      text not null default session_user,
    program text not null default ''
);
