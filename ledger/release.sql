-- The holder gives the job back unfinished. ok; already: this very claim did so before; stale: the job is not his.
--
-- It is ready at once and keeps its place in the queue. The attempt is given back while releases < max_releases and
-- then stays spent, so that a job that is given back for ever comes to rest. The generation stays: nobody was
-- revoked.

create or replace function @schema@.release(id bigint, gen bigint, claim uuid, note text default null) returns text
language plpgsql as $$
begin
    return @schema@.snooze(release.id, release.gen, release.claim, null::interval, release.note);
end $$;
