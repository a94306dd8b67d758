-- The archive, schema version 1. {{FIGURES}} stands for one REAL column per figure, NULL = unknown.
-- STRICT tables and CHECKs let SQLite itself refuse what could not be read back.
-- Unsigned 64-bit numbers stand as decimal text where they may exceed 2^63 (seeds).

CREATE TABLE run (
    id             INTEGER PRIMARY KEY,
    label          TEXT    NOT NULL UNIQUE,
    state          TEXT    NOT NULL CHECK (state IN ('running', 'interrupted', 'complete')),
    started_at     TEXT    NOT NULL,             -- RFC 3339, UTC
    finished_at    TEXT,
    tool_version   TEXT    NOT NULL,
    plan_name      TEXT    NOT NULL,
    plan_toml      TEXT    NOT NULL,             -- with every --set applied
    seed           TEXT    NOT NULL,
    repetitions    INTEGER NOT NULL CHECK (repetitions >= 0),
    targets        TEXT    NOT NULL CHECK (json_valid(targets)),   -- [{"name", "url", "engine", ...}]
    platform       TEXT    NOT NULL CHECK (json_valid(platform)),
    inventory      TEXT    NOT NULL CHECK (json_valid(inventory)), -- {"facts": [...], "advice": [...]}
    study          TEXT             CHECK (json_valid(study)),     -- {"name", "side", "order", ...}, NULL outside one
    digest         TEXT    NOT NULL              -- SHA-256 over this row, its planned and its missing rows
) STRICT;

-- What a complete run consists of, in the order of the plan.
CREATE TABLE planned (
    run_id         INTEGER NOT NULL REFERENCES run (id),
    seq            INTEGER NOT NULL,
    repetition     INTEGER NOT NULL CHECK (repetition BETWEEN 0 AND 4294967295),
    step           INTEGER NOT NULL CHECK (step       BETWEEN 0 AND 4294967295),
    target         INTEGER NOT NULL CHECK (target     BETWEEN 0 AND 4294967295),
    test           TEXT    NOT NULL,
    nodes          INTEGER NOT NULL CHECK (nodes      BETWEEN 0 AND 4294967295),
    jobs           INTEGER NOT NULL CHECK (jobs       BETWEEN 0 AND 4294967295),
    threads        INTEGER NOT NULL CHECK (threads    BETWEEN 0 AND 4294967295),
    PRIMARY KEY (run_id, seq),
    UNIQUE (run_id, repetition, step, target, test, nodes, jobs, threads)
) STRICT;

-- What a target cannot do, with the reason.
CREATE TABLE missing (
    run_id         INTEGER NOT NULL REFERENCES run (id),
    seq            INTEGER NOT NULL,
    target         INTEGER NOT NULL CHECK (target BETWEEN 0 AND 4294967295),
    test           TEXT    NOT NULL,
    title          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,             -- the sentence
    code           TEXT    NOT NULL,             -- of the remark
    fields         TEXT    NOT NULL CHECK (json_valid(fields)),             -- its values: {"why": ..., ...}
    PRIMARY KEY (run_id, seq)
) STRICT;

-- One finished point; the id gives the order in which points were measured.
CREATE TABLE point (
    id             INTEGER PRIMARY KEY,
    run_id         INTEGER NOT NULL REFERENCES run (id),
    repetition     INTEGER NOT NULL CHECK (repetition BETWEEN 0 AND 4294967295),
    step           INTEGER NOT NULL CHECK (step       BETWEEN 0 AND 4294967295),
    target         INTEGER NOT NULL CHECK (target     BETWEEN 0 AND 4294967295),   -- index into run.targets
    test           TEXT    NOT NULL,
    nodes          INTEGER NOT NULL CHECK (nodes      BETWEEN 0 AND 4294967295),
    jobs           INTEGER NOT NULL CHECK (jobs       BETWEEN 0 AND 4294967295),
    threads        INTEGER NOT NULL CHECK (threads    BETWEEN 0 AND 4294967295),
    title          TEXT    NOT NULL,
    component      TEXT    NOT NULL CHECK (component IN ('cpu', 'server', 'storage', 'database')),
    started_at     TEXT    NOT NULL,
    seed           TEXT    NOT NULL,
    configuration  TEXT    NOT NULL,             -- fingerprint of everything configured
    definition     TEXT    NOT NULL,             -- fingerprint of the test with its SQL
    steady         TEXT    CHECK (steady IN ('yes', 'no', 'trend')),
    work           TEXT    NOT NULL CHECK (json_valid(work)),      -- {"mode", "size", ...}
    bottleneck_resource TEXT,                    -- "cpu", "device", "log sync", ..., "none"
    bottleneck_sentence TEXT,                    -- with the numbers it rests on
    digest         TEXT    NOT NULL,             -- SHA-256 over this row and its children
{{FIGURES}}
    document       TEXT    NOT NULL CHECK (json_valid(document)),  -- {"samples", "devices", ...}: series and lists
    UNIQUE (run_id, repetition, step, target, test, nodes, jobs, threads)
) STRICT;

-- The two distributions of a point, whole: percentiles are read from here and stored nowhere else.
CREATE TABLE histogram (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    kind           TEXT    NOT NULL CHECK (kind IN ('service', 'response')),
    v2_deflate     BLOB    NOT NULL,             -- HdrHistogram V2, deflated, in nanoseconds
    PRIMARY KEY (point_id, kind)
) STRICT, WITHOUT ROWID;

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

-- Why a point is invalid (a point without such a row is valid), and what else to know about it.
CREATE TABLE reason (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    kind           TEXT    NOT NULL CHECK (kind IN ('invalid', 'note')),
    text           TEXT    NOT NULL,             -- the sentence
    code           TEXT    NOT NULL,             -- of the remark
    fields         TEXT    NOT NULL CHECK (json_valid(fields)),             -- its values: {"errors": 3, ...}
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- For people with sqlite3 at hand. `measured_valid` is what was said when the point was measured;
-- whether rows were changed since, only dbdyno tells (it checks the digests).
CREATE VIEW result AS
SELECT run.label AS run,
       run.state AS state,
       json_extract(run.targets, '$[' || point.target || '].name')   AS target_name,
       json_extract(run.targets, '$[' || point.target || '].engine') AS engine,
       NOT EXISTS (SELECT 1 FROM reason WHERE reason.point_id = point.id AND reason.kind = 'invalid')
           AS measured_valid,
       point.id, point.run_id, point.repetition, point.step, point.target, point.test, point.nodes, point.jobs, point.threads,
       point.title, point.component, point.started_at, point.seed, point.configuration, point.definition, point.steady,
       point.work, point.bottleneck_resource, point.bottleneck_sentence, {{NAMES}}
FROM point JOIN run ON run.id = point.run_id;
