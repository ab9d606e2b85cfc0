-- What a worker takes and finishes. Nothing here forbids that a job is done twice: that must come from the claim alone.
CREATE TABLE IF NOT EXISTS job (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        work_ms integer NOT NULL,
        worker text,
        claimed_at timestamptz,
        finished_at timestamptz
);
CREATE INDEX IF NOT EXISTS job_waiting ON job (id) WHERE claimed_at IS NULL;
CREATE TABLE IF NOT EXISTS effect (
        job bigint NOT NULL REFERENCES job,
        worker text NOT NULL
);
