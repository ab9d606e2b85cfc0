-- How long ago, in microseconds, the last sweep was, where that is too long for anybody to judge silence, so that
-- nothing is recovered; else NULL. And whether this server takes no writes.
select case when @schema@._quiet(clock_timestamp()) is null
            then (extract(epoch from clock_timestamp() - p.tick_at) * 1000000)::bigint end as away_usec,
       current_setting('transaction_read_only') = 'on' as read_only
  from @schema@.pulse p
