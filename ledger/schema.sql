-- The job ledger: its tables, and the rules that no entrance can go around.
--
-- Everything that decides stands in columns and predicates of this file, so that a row written by foreign SQL obeys
-- it too; the verbs (one file each) only move rows between states. PostgreSQL 13 or newer.
--
-- Order of locks, everywhere the same, so that no two verbs wait for each other in a ring:
--   1. a worker's gate     claim: shared; worker_drain and worker_dead: exclusive
--   2. a queue's gate      exclusive, only where the queue limits max_running
--   3. a key's gate        exclusive; tried, and never waited for while a job is locked
--   4. jobs                by id where a verb waits (complete_many, retry, discard); all who take work or recover it
--                          skip locked rows, and so wait for nobody
--   5. items               after their job; recovery skips locked ones
-- In claim_next completions hold jobs while the claim asks for 1 and 2: harmless, because whoever holds 1 or 2 never
-- waits for a job.
--
-- Gates are advisory locks of the two-key kind, at transaction level: (oid of the schema, hash of what is locked).
-- Two ledgers in one database never meet, and a pooler may hand the session on after each commit.
--
-- Three spellings of "running", and they matter. A partial index that holds few rows looks cheap to the planner, so
-- it would read the whole of job_running to find one id. Each index has a predicate of its own, and a query says what
-- only the index that it means can answer:
--   state = 'running'          with a queue           job_running
--   worker_id = …              with a worker          job_held
--   worker_id is not null      with an id, or a key   the primary key, job_running_key
-- The check job_holder makes them one.

create type @schema@.state as enum ('ready', 'running', 'done', 'dead', 'cancelled', 'discarded');

-- What a person may say about an effect that nobody knows the end of (item_settle).
create domain @schema@.settlement as text check (value in ('done', 'error'));

-- Policy. It is copied to a job when the job is enqueued, so that a change never moves a running job's lease.
create table @schema@.queue (
    name            text collate "C" primary key check (length(name) between 1 and 200),
    lease_ms        int not null default 60000 check (lease_ms >= 1000),
    hard_timeout_ms int check (hard_timeout_ms > 0),
    max_attempts    int not null default 5 check (max_attempts >= 1),
    max_deaths      int not null default 3 check (max_deaths >= 1),
    max_releases    int not null default 20 check (max_releases >= 0),
    backoff_ms      int not null default 2000 check (backoff_ms >= 0),
    backoff_cap_ms  int not null default 900000 check (backoff_cap_ms >= 0),
    max_running     int check (max_running >= 0),
    max_running_key int not null default 1 check (max_running_key >= 1),
    on_doubt        text not null default 'ask' check (on_doubt in ('ask', 'redo', 'skip')),
    paused          boolean not null default false,
    keep            interval check (keep >= interval '0')
);

insert into @schema@.queue (name) values ('default');

-- One row for each process start. held is what it held when it was first said to be dead: whether its jobs share the
-- blame is decided once, however many calls recover them.
create table @schema@.worker (
    id         uuid primary key default gen_random_uuid(),
    supervisor uuid,
    host       text not null default '',
    pid        int,
    started_at timestamptz not null default clock_timestamp(),
    beat_at    timestamptz not null default clock_timestamp(),
    state      text not null default 'up' check (state in ('up', 'draining', 'gone')),
    cause      text,
    note       text,
    held       bigint
) with (fillfactor = 50);

-- Whether anybody sweeps, since when the sweep can be trusted, and on which server it ran.
create table @schema@.pulse (
    one        boolean primary key default true check (one),
    tick_at    timestamptz not null default clock_timestamp(),
    quiet_from timestamptz not null default '-infinity',
    stall_ms   int not null default 60000 check (stall_ms > 0),
    server_at  timestamptz not null default pg_postmaster_start_time(),
    timeline   text not null default left(pg_walfile_name(pg_current_wal_lsn()), 8)
) with (fillfactor = 50);

insert into @schema@.pulse default values;

-- The columns stand in the order that makes an update's WAL record small: what never changes first and last, what
-- every claim and completion changes together in the middle.
--
-- A row is written three times: enqueued, claimed, completed. A page is filled to a third, so that all three fit on it:
-- a row that moves to another page costs a lock record and a record of all its columns (measured, 100 at a time:
-- 807 bytes of WAL a job, against 895 with half and 1,002 with four fifths).
--
-- state is a label for people. claimable is the breaker: claim, the scan, the indexes and the figures all use this
-- one column, so that what is spent or fatal is claimable through no entrance, whatever the label says. Each
-- generated column costs every update some microseconds; there are these two.
create table @schema@.job (
    id              bigint generated by default as identity primary key,
    created_at      timestamptz not null default clock_timestamp(),
    run_at          timestamptz not null default clock_timestamp(),
    priority        int not null default 0,
    lease_ms        int not null default 60000 check (lease_ms >= 1000),
    hard_timeout_ms int check (hard_timeout_ms > 0),
    max_attempts    int not null default 5 check (max_attempts >= 1),
    max_deaths      int not null default 3 check (max_deaths >= 1),
    max_releases    int not null default 20 check (max_releases >= 0),
    budget_no       int not null default 0,
    gen             bigint not null default 0,
    attempts        int not null default 0 check (attempts >= 0),
    total_attempts  int not null default 0,
    deaths          int not null default 0 check (deaths >= 0),
    releases        int not null default 0 check (releases >= 0),
    state           @schema@.state not null default 'ready',
    claimable       boolean not null generated always as
                        (state = 'ready' and not fatal and attempts < max_attempts and deaths < max_deaths) stored,
    is_dead         boolean not null generated always as
                        (state = 'dead' or (state = 'ready'
                         and (fatal or attempts >= max_attempts or deaths >= max_deaths))) stored,
    fatal           boolean not null default false,
    solo            boolean not null default false,
    cancel          boolean not null default false,
    claimed_at      timestamptz,
    beat_at         timestamptz,
    deadline_at     timestamptz,
    finished_at     timestamptz,
    spared_at       timestamptz,
    claim_id        uuid,
    worker_id       uuid,
    queue           text collate "C" not null default 'default',
    kind            text not null default '',
    dedup_key       text collate "C",
    concurrency_key text collate "C",
    payload         json,
    progress        json,
    result          json,
    error_class     text,
    last_error      text,
    constraint job_holder check ((state = 'running') = (worker_id is not null))
) with (fillfactor = 30, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- No index may name beat_at, spared_at or progress: then a beat is a HOT update, at half the WAL. The claimable stand
-- in three lanes: plain (no key), keyed, and solo. job_ready has each key's jobs in order, and the plain ones as
-- those of the key NULL; job_ready_keyed has the keyed ones in order, whatever their key.
create index job_ready on @schema@.job (queue, solo, concurrency_key, priority, run_at, id) where claimable;
create index job_ready_keyed on @schema@.job (queue, priority, run_at, id)
    where claimable and not solo and concurrency_key is not null;
create index job_running on @schema@.job (queue, claimed_at, id) where state = 'running';
create index job_running_key on @schema@.job (queue, concurrency_key)
    where worker_id is not null and concurrency_key is not null;
create index job_held on @schema@.job (worker_id, solo) where worker_id is not null;
create index job_finished on @schema@.job (queue, finished_at) where state in ('done', 'cancelled', 'discarded');
create index job_dead on @schema@.job (queue, id) where is_dead;

-- What changes within milliseconds has no statistics worth having: a plan that was made while nothing ran must not be
-- kept when thousands do. Without them the planner assumes the same always.
alter table @schema@.job
    alter column state set statistics 0,
    alter column claimable set statistics 0,
    alter column worker_id set statistics 0,
    alter column solo set statistics 0;

-- A dead job keeps its key: a producer must not buy a poisonous file a fresh budget.
create unique index job_dedup on @schema@.job (queue, dedup_key)
    where dedup_key is not null and state in ('ready', 'running', 'dead');

-- Payloads over 300 bytes: a job's row is written three times in its life, its payload once.
create table @schema@.payload (
    job_id  bigint primary key references @schema@.job (id) on delete cascade,
    payload json not null
);

-- The parts of a batch, and the record of effects that cost money, in one.
create table @schema@.item (
    job_id     bigint not null references @schema@.job (id) on delete cascade,
    key        text collate "C" not null,
    gen        bigint not null,
    state      text not null default 'running' check (state in ('running', 'done', 'error', 'in_doubt')),
    tries      int not null default 1,
    updated_at timestamptz not null default clock_timestamp(),
    result     json,
    error      text,
    primary key (job_id, key)
) with (fillfactor = 70);

create index item_open on @schema@.item (job_id, gen) where state = 'running';

-- Whoever writes an item writes its job too. Without this a sweep that has judged the job silent recovers it although
-- an item has just been committed: READ COMMITTED looks again at the locked row, not at a subquery. Setting in_doubt
-- is no sign of life.
create function @schema@._item_is_life() returns trigger language plpgsql as $$
begin
    update @schema@.job j set beat_at = clock_timestamp() where j.id = new.job_id and j.worker_id is not null;
    return null;
end $$;

create trigger item_is_life after insert or update on @schema@.item
    for each row when (new.state <> 'in_doubt') execute function @schema@._item_is_life();

-- One row for each attempt that did not succeed. It outlives its job as long as people may want to know.
create table @schema@.attempt (
    job_id      bigint not null,
    gen         bigint not null,
    claim_id    uuid,
    budget_no   int not null,
    attempt     int not null,
    queue       text collate "C" not null,
    kind        text not null,
    worker_id   uuid,
    claimed_at  timestamptz,
    ended_at    timestamptz not null default clock_timestamp(),
    outcome     text not null check (outcome in ('failed', 'released', 'expired', 'timed_out', 'worker_died',
                                                 'worker_died_shared', 'interrupted', 'cancelled')),
    error_class text,
    error       text,
    primary key (job_id, gen)
);

create index attempt_ended on @schema@.attempt (ended_at);
create index attempt_queue on @schema@.attempt (queue, ended_at);

-- What people did by hand.
create table @schema@.audit (
    id     bigint generated always as identity primary key,
    at     timestamptz not null default clock_timestamp(),
    job_id bigint not null,
    verb   text not null,
    by     text not null default '',
    was    jsonb
);

create index audit_job on @schema@.audit (job_id, id);

-- The verbs run with their caller's rights. What a role needs that enqueues, works and sweeps, and owns nothing:
--
--   grant usage on schema @schema@ to app;
--   grant select, insert, update, delete on all tables in schema @schema@ to app;
--   grant usage on all sequences in schema @schema@ to app;
--
-- delete is prune's alone; audit and attempt are only ever inserted into, and deleted from by prune.
