-- $1 queue, $2 kind, $3 payload, $4 dedup, $5 run_at, $6 priority, $7 max_attempts, $8 delay, $9 how many.
select e.id, e.created, e.status
  from generate_series(1, $9::int) n
 cross join lateral @schema@.enqueue($1::text, $2::text, $3::json, $4::text, $5::timestamptz, $6::int, null, $7::int,
                                     n = $9::int, $8::interval) e
