-- Chooses and locks up to n due jobs of a queue, in order (priority, run_at, id). Private.
--
-- Three lanes. Most jobs have no key: _pick_plain walks their index from the cursor on and skips what others are
-- taking. Where jobs with a concurrency key wait, _pick_keyed looks at each key once, not at each job: 20,000 blocked
-- jobs of one key cost what one costs. Both are merged by order in _pick. The third lane, jobs that must run alone, is
-- _pick_solo's.
--
-- `id = any(array(…))` around it all, a plan made once and no sequential scan: a LIMIT that the planner does not know
-- would make it read the whole table.

create or replace function @schema@._pick_plain(
    queue text, n int, after_priority int, after_run_at timestamptz, after_id bigint
) returns bigint[]
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_sort = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := clock_timestamp();
begin
    return array(select j.id
                   from @schema@.job j
                  where j.queue = _pick_plain.queue and j.claimable and j.lane = 0 and j.run_at <= v_now
                    and (j.priority, j.run_at, j.id)
                        > (_pick_plain.after_priority, _pick_plain.after_run_at, _pick_plain.after_id)
                  order by j.priority, j.run_at, j.id
                  limit _pick_plain.n
                    for update skip locked);
end $$;

-- For each key with room, its first due jobs, as many as there is room.
create or replace function @schema@._pick_keyed(queue text, n int)
returns table (priority int, run_at timestamptz, id bigint, key text)
language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
    v_now  timestamptz := clock_timestamp();
    v_room int := coalesce((select q.max_running_key from @schema@.queue q where q.name = _pick_keyed.queue), 1);
begin
    return query
        with recursive keys (key) as (
            (select j.concurrency_key from @schema@.job j
              where j.queue = _pick_keyed.queue and j.claimable and j.lane = 1
              order by j.concurrency_key limit 1)
            union all
            select (select j.concurrency_key from @schema@.job j
                     where j.queue = _pick_keyed.queue and j.claimable and j.lane = 1 and j.concurrency_key > k.key
                     order by j.concurrency_key limit 1)
              from keys k where k.key is not null
        ), rooms as materialized (
            select k.key, v_room - (select count(*) from @schema@.job r
                                     where r.queue = _pick_keyed.queue and r.state = 'running'
                                       and r.concurrency_key = k.key) as room
              from keys k where k.key is not null
        )
        select f.priority, f.run_at, f.id, r.key
          from rooms r
          cross join lateral (
              select j.priority, j.run_at, j.id
                from @schema@.job j
               where j.queue = _pick_keyed.queue and j.claimable and j.lane = 1 and j.concurrency_key = r.key
                 and j.run_at <= v_now
               order by j.priority, j.run_at, j.id
               limit least(r.room, _pick_keyed.n)) f
         where r.room > 0
         order by f.priority, f.run_at, f.id;
end $$;

-- One job that must run alone, for a worker that holds nothing. It goes before others of its priority: a worker that
-- stays busy would never have an empty hand for it.
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
         where j.queue = _pick_solo.queue and j.claimable and j.lane = 2 and j.run_at <= v_now
           and not exists (select from @schema@.job o
                            where o.queue = _pick_solo.queue and o.claimable and o.lane < 2
                              and o.priority < j.priority and o.run_at <= v_now)
         order by j.priority, j.run_at, j.id
           for update skip locked
    loop
        if v_solo.concurrency_key is null
           or @schema@._key_is_free(_pick_solo.queue, v_solo.concurrency_key, 0) then
            return array[v_solo.id];
        end if;
    end loop;
    return '{}';
end $$;

-- All lanes together. A job that runs alone comes alone.
create or replace function @schema@._pick(
    queue text, worker uuid, n int, after_priority int, after_run_at timestamptz, after_id bigint
) returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
    v_now   timestamptz := clock_timestamp();
    v_ids   bigint[] := '{}';
    v_taken jsonb := '{}';
    c_plain cursor for
        select j.priority, j.run_at, j.id
          from @schema@.job j
         where j.queue = _pick.queue and j.claimable and j.lane = 0 and j.run_at <= v_now
           and (j.priority, j.run_at, j.id) > (_pick.after_priority, _pick.after_run_at, _pick.after_id)
         order by j.priority, j.run_at, j.id
           for update skip locked;
    v_plain record;
    v_keyed record;
begin
    if _pick.n <= 0 then
        return v_ids;
    end if;
    if exists (select from @schema@.job j
                where j.queue = _pick.queue and j.claimable and j.lane = 2 and j.run_at <= v_now) then
        v_ids := @schema@._pick_solo(_pick.queue, _pick.worker);
        if v_ids <> '{}' then
            return v_ids;
        end if;
    end if;
    if not exists (select from @schema@.job j
                    where j.queue = _pick.queue and j.claimable and j.lane = 1 and j.run_at <= v_now) then
        return @schema@._pick_plain(_pick.queue, _pick.n, _pick.after_priority, _pick.after_run_at, _pick.after_id);
    end if;

    open c_plain;
    fetch c_plain into v_plain;
    for v_keyed in select * from @schema@._pick_keyed(_pick.queue, _pick.n) loop
        while v_plain.id is not null and cardinality(v_ids) < _pick.n
              and (v_plain.priority, v_plain.run_at, v_plain.id) < (v_keyed.priority, v_keyed.run_at, v_keyed.id) loop
            v_ids := v_ids || v_plain.id;
            fetch c_plain into v_plain;
        end loop;
        exit when cardinality(v_ids) >= _pick.n;

        continue when not @schema@._key_is_free(_pick.queue, v_keyed.key, coalesce((v_taken ->> v_keyed.key)::int, 0));
        perform from @schema@.job j where j.id = v_keyed.id and j.claimable and j.lane = 1 for update skip locked;
        if found then
            v_ids   := v_ids || v_keyed.id;
            v_taken := v_taken || jsonb_build_object(v_keyed.key, coalesce((v_taken ->> v_keyed.key)::int, 0) + 1);
        end if;
    end loop;
    while v_plain.id is not null and cardinality(v_ids) < _pick.n loop
        v_ids := v_ids || v_plain.id;
        exit when cardinality(v_ids) >= _pick.n;
        fetch c_plain into v_plain;
    end loop;
    close c_plain;
    return v_ids;
end $$;
