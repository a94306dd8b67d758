
-- What a run's user called it and noted of it afterwards: no part of what was measured, so under no digest.
CREATE TABLE annotation (
    run_id         INTEGER PRIMARY KEY REFERENCES run (id),
    name           TEXT    UNIQUE,               -- instead of run.label, which stays as it was; NULL: not renamed
    note           TEXT,                         -- NULL: none
    changed_at     TEXT    NOT NULL              -- RFC 3339, UTC
) STRICT;

-- Runs that their user deleted; their numbers are not given again.
CREATE TABLE deleted_run (
    id             INTEGER PRIMARY KEY,
    label          TEXT    NOT NULL,
    plan_name      TEXT    NOT NULL,
    started_at     TEXT    NOT NULL,
    points         INTEGER NOT NULL,
    deleted_at     TEXT    NOT NULL
) STRICT;
