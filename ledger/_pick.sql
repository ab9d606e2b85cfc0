-- Chooses and locks up to n due jobs of a queue where not all that is due is plain, in order (priority, run_at, id).
-- Private; where all is plain, _start chooses for itself.
--
-- Three lanes. Jobs without a key are locked as they are walked, from the cursor on. Jobs with a concurrency key are
-- walked in order without a lock; each key is judged once. When a hundred jobs of blocked keys stood in the way, each
-- key is looked at instead of each job: 20,000 blocked jobs of one key must not cost more than one. Both are merged
-- by order. A job that runs alone comes alone, and when it has waited long a busy worker makes room for it.

-- The first due jobs of each key with room, as many as there is room.
create or replace function @schema@._heads(queue text, n int, now timestamptz)
returns table (priority int, run_at timestamptz, id bigint, key text)
language plpgsql as $$
#variable_conflict use_column
declare
    v_room int := coalesce((select q.max_running_key from @schema@.queue q where q.name = _heads.queue), 1);
begin
    return query
        with recursive keys (key) as (
            (select j.concurrency_key from @schema@.job j
              where j.queue = _heads.queue and j.claimable and not j.solo
                and j.concurrency_key is not null
              order by j.concurrency_key limit 1)
            union all
            select (select j.concurrency_key from @schema@.job j
                     where j.queue = _heads.queue and j.claimable and not j.solo and j.concurrency_key > k.key
                     order by j.concurrency_key limit 1)
              from keys k where k.key is not null
        ), rooms as materialized (
            select k.key, v_room - (select count(*) from @schema@.job r
                                     where r.queue = _heads.queue and r.worker_id is not null
                                       and r.concurrency_key = k.key) as room
              from keys k where k.key is not null
        )
        select f.priority, f.run_at, f.id, r.key
          from rooms r
          cross join lateral (
              select j.priority, j.run_at, j.id
                from @schema@.job j
               where j.queue = _heads.queue and j.claimable and not j.solo and j.concurrency_key = r.key
                 and j.run_at <= _heads.now
               order by j.priority, j.run_at, j.id
               limit least(r.room, _heads.n)) f
         where r.room > 0
         order by f.priority, f.run_at, f.id;
end $$;

-- One job that must run alone, for a worker that holds nothing. It goes before others of its priority, for an empty
-- hand is rare.
create or replace function @schema@._pick_solo(queue text, worker uuid) returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
    v_now  timestamptz := clock_timestamp();
    v_solo record;
begin
    if not @schema@._is_alone(_pick_solo.worker) then
        return '{}';
    end if;
    for v_solo in
        select j.id, j.concurrency_key from @schema@.job j
         where j.queue = _pick_solo.queue and j.claimable and j.solo and j.run_at <= v_now
           and not exists (select from @schema@.job o
                            where o.queue = _pick_solo.queue and o.claimable and not o.solo
                              and o.priority < j.priority and o.run_at <= v_now)
         order by j.priority, j.run_at, j.id
           for no key update skip locked
    loop
        if v_solo.concurrency_key is null
           or @schema@._key_is_free(_pick_solo.queue, v_solo.concurrency_key, 0) then
            return array[v_solo.id];
        end if;
    end loop;
    return '{}';
end $$;

-- All lanes together.
create or replace function @schema@._pick(
    queue text, worker uuid, n int, after_priority int, after_run_at timestamptz, after_id bigint
) returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
    v_now     timestamptz := clock_timestamp();
    v_ids     bigint[] := '{}';
    v_full    text[] := '{}';
    v_taken   text[] := '{}';
    v_skipped int := 0;
    v_plain   record;
    v_keyed   record;
    c_keyed   refcursor;
    c_plain   cursor for
        select f.priority, f.run_at, f.id
          from @schema@._plain_priorities(_pick.queue) p
          cross join lateral (
              select j.priority, j.run_at, j.id
                from @schema@.job j
               where j.queue = _pick.queue and j.claimable and not j.solo and j.concurrency_key is null
                 and j.priority = p.priority and j.run_at <= v_now
                 and (j.priority, j.run_at, j.id) > (_pick.after_priority, _pick.after_run_at, _pick.after_id)
               order by j.concurrency_key, j.run_at, j.id
                 for no key update skip locked) f;
begin
    if _pick.n <= 0 then
        return v_ids;
    end if;
    v_ids := @schema@._pick_solo(_pick.queue, _pick.worker);
    if v_ids <> '{}' or @schema@._stands_back(_pick.queue, _pick.worker) then
        return v_ids;
    end if;

    open c_plain;
    fetch c_plain into v_plain;
    open c_keyed for
        select f.priority, f.run_at, f.id, f.key
          from @schema@._keyed_priorities(_pick.queue) p
          cross join lateral (
              select j.priority, j.run_at, j.id, j.concurrency_key as key
                from @schema@.job j
               where j.queue = _pick.queue and j.claimable and not j.solo and j.concurrency_key is not null
                 and j.priority = p.priority and j.run_at <= v_now
               order by j.run_at, j.id) f;
    fetch c_keyed into v_keyed;

    while cardinality(v_ids) < _pick.n and (v_plain.id is not null or v_keyed.id is not null) loop
        if v_keyed.id is null
           or (v_plain.priority, v_plain.run_at, v_plain.id) < (v_keyed.priority, v_keyed.run_at, v_keyed.id) then
            v_ids := v_ids || v_plain.id;
            if cardinality(v_ids) < _pick.n then
                fetch c_plain into v_plain;
            end if;
            continue;
        end if;

        if v_keyed.key = any (v_full) then
            v_skipped := v_skipped + 1;
        elsif not @schema@._key_is_free(_pick.queue, v_keyed.key,
                                        cardinality(array_positions(v_taken, v_keyed.key))) then
            v_full    := v_full || v_keyed.key;
            v_skipped := v_skipped + 1;
        else
            perform from @schema@.job j
              where j.id = v_keyed.id and j.claimable and not j.solo and j.id <> all (v_ids)
                for no key update skip locked;
            if found then
                v_ids   := v_ids || v_keyed.id;
                v_taken := v_taken || v_keyed.key;
            end if;
        end if;
        if v_skipped = 100 then
            v_skipped := v_skipped + 1;
            close c_keyed;
            open c_keyed for
                select h.priority, h.run_at, h.id, h.key from @schema@._heads(_pick.queue, _pick.n, v_now) h;
        end if;
        fetch c_keyed into v_keyed;
    end loop;
    close c_plain;
    close c_keyed;
    return v_ids;
end $$;
