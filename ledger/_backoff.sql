-- How long to wait before the attempt after the nth: base, doubled each time, at most cap, and half to all of that by
-- chance, so that what failed together does not come back together. Private.

create or replace function @schema@._backoff(n int, base_ms int, cap_ms int) returns interval
language sql volatile as $$
    select make_interval(secs => least(cap_ms::float8, base_ms * power(2::float8, least(greatest(n, 1), 31) - 1))
                                 * (0.5 + random() / 2) / 1000)
$$;
