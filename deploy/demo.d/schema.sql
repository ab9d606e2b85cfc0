-- What the work of the demo does, counted: a row each time. Nothing here forbids that a job is done twice: that must come
-- from the ledger alone.
CREATE TABLE IF NOT EXISTS effect (
        job bigint NOT NULL,
        worker uuid NOT NULL
);
