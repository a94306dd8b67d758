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
    UNIQUE (run_id, repetition, step, target, test, nodes, jobs, threads)
) STRICT;

-- The two distributions of a point, whole: percentiles are read from here and stored nowhere else.
CREATE TABLE histogram (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    kind           TEXT    NOT NULL CHECK (kind IN ('service', 'response')),
    v2_deflate     BLOB    NOT NULL,             -- HdrHistogram V2, deflated, in nanoseconds
    PRIMARY KEY (point_id, kind)
) STRICT, WITHOUT ROWID;

-- The time series beside a point.
CREATE TABLE sample (
    point_id         INTEGER NOT NULL REFERENCES point (id),
    seq              INTEGER NOT NULL,
    at_s             REAL    NOT NULL,
    operations_per_s REAL,
    response_us_p99  REAL,
    cpu_pct          REAL,
    cpu_iowait_pct   REAL,
    read_iops        REAL,
    write_iops       REAL,
    read_mb_per_s    REAL,
    write_mb_per_s   REAL,
    memory_used_mb   REAL,
    cpu_user_pct     REAL,
    cpu_system_pct   REAL,
    network_mb_per_s REAL,
    tcp_retransmits  REAL,                       -- in the interval
    tcp_sockets      REAL,                       -- at its end
    page_cache_mb    REAL,
    major_faults     REAL,                       -- in the interval
    swap_mb          REAL,                       -- in and out in the interval
    pressure_cpu_pct    REAL,
    pressure_memory_pct REAL,
    pressure_io_pct     REAL,
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- Where the jobs' time went, longest first.
CREATE TABLE timed_event (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    event          TEXT    NOT NULL,
    class          TEXT    NOT NULL,
    waits          INTEGER CHECK (waits >= 0),
    time_s         REAL    NOT NULL,
    share_pct      REAL    NOT NULL,
    source         TEXT    NOT NULL,
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- What the server's own processes did during the point.
CREATE TABLE background_event (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    process        TEXT    NOT NULL,
    event          TEXT    NOT NULL,
    count          INTEGER CHECK (count >= 0),
    time_s         REAL,
    mb             REAL,
    source         TEXT    NOT NULL,
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- How long the waits of one class lasted: less than 1 ms, 2 ms, 4 ms ...; NULL with the reason in `remark`.
CREATE TABLE wait_histogram (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    class          TEXT    NOT NULL,
    counts         TEXT    CHECK (json_valid(counts)),             -- [12, 3, 0, ...]
    remark         TEXT    NOT NULL,
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- Times of one kind of operation, by who timed them ('driver': dbdyno, 'device': the kernel, 'array': its reporter).
CREATE TABLE operation_times (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    observer       TEXT    NOT NULL,
    subject        TEXT    NOT NULL,             -- device or array; '' for all that the driver did
    operation      TEXT    NOT NULL,             -- "read", "write", "flush", "discard"
    phase          TEXT    NOT NULL,             -- "service", "response", "whole", "queue", "device"
    count          INTEGER CHECK (count >= 0),
    mean_us        REAL,
    remark         TEXT    NOT NULL,             -- where it comes from, or why there is no more
    v2_deflate     BLOB,                         -- as in `histogram`; NULL where only the mean is known
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- Means of one kind of operation in one interval.
CREATE TABLE operation_sample (
    point_id         INTEGER NOT NULL REFERENCES point (id),
    seq              INTEGER NOT NULL,
    at_s             REAL    NOT NULL,
    operation        TEXT    NOT NULL,
    operations       INTEGER NOT NULL CHECK (operations >= 0),
    service_us_mean  REAL,
    response_us_mean REAL,
    PRIMARY KEY (point_id, seq)
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

-- What each kind of transaction of a point did.
CREATE TABLE transaction_kind (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    completed      INTEGER NOT NULL CHECK (completed >= 0),
    rows           INTEGER NOT NULL CHECK (rows >= 0),   -- returned or changed by those that were completed
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- What one block device did while a point was measured.
CREATE TABLE device (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    name           TEXT    NOT NULL,             -- the kernel's
    holds          TEXT    NOT NULL CHECK (json_valid(holds)),     -- ["data", "log"]: of the database; [] below other devices
    carries        TEXT    NOT NULL CHECK (json_valid(carries)),   -- ["dm-0"]: devices that are built on it
    elapsed_s      REAL,
    read_count     INTEGER CHECK (read_count >= 0),                -- NULL where nobody counted
    read_mb        REAL    CHECK ((read_mb IS NULL) = (read_count IS NULL)),
    read_await_ms  REAL,
    write_count    INTEGER CHECK (write_count >= 0),
    write_mb       REAL    CHECK ((write_mb IS NULL) = (write_count IS NULL)),
    write_await_ms REAL,
    busy_pct       REAL,
    queue_mean     REAL,
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- Requests of one kind of one device in one interval.
CREATE TABLE device_sample (
    point_id        INTEGER NOT NULL REFERENCES point (id),
    seq             INTEGER NOT NULL,
    device          INTEGER NOT NULL,            -- `seq` of the device
    at_s            REAL    NOT NULL,
    operation       TEXT    NOT NULL,            -- "read", "write", "flush"
    requests        INTEGER NOT NULL CHECK (requests >= 0),
    service_us_mean REAL,
    service_us_p99  REAL,                        -- NULL unless the kernel times each request
    service_us_max  REAL,
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;
-- I/O of one direction on the files of one purpose, as the engine itself counted it during a point.
CREATE TABLE engine_io (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    purpose        TEXT    NOT NULL,             -- "data", "log", "temporary", "undo"
    operation      TEXT    NOT NULL,             -- "read", "write"
    count          INTEGER CHECK (count >= 0),   -- NULL where the engine does not tell
    mb             REAL,
    time_s         REAL,
    source         TEXT    NOT NULL,             -- "pg_stat_io"; '' where nothing is told
    unknown        TEXT,                         -- why nothing is told
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- What one network interface of the host carried while a point was measured.
CREATE TABLE interface (
    point_id         INTEGER NOT NULL REFERENCES point (id),
    seq              INTEGER NOT NULL,
    name             TEXT    NOT NULL,           -- the kernel's
    kind             TEXT    NOT NULL,           -- "physical", "virtual", "loopback", "others": all that are not listed
    elapsed_s        REAL,
    received_bytes   INTEGER NOT NULL CHECK (received_bytes >= 0),
    received_packets INTEGER NOT NULL CHECK (received_packets >= 0),
    received_errors  INTEGER NOT NULL CHECK (received_errors >= 0),
    received_drops   INTEGER NOT NULL CHECK (received_drops >= 0),
    sent_bytes       INTEGER NOT NULL CHECK (sent_bytes >= 0),
    sent_packets     INTEGER NOT NULL CHECK (sent_packets >= 0),
    sent_errors      INTEGER NOT NULL CHECK (sent_errors >= 0),
    sent_drops       INTEGER NOT NULL CHECK (sent_drops >= 0),
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;

-- One execution of a statement, in points that keep each of them.
CREATE TABLE execution (
    point_id          INTEGER NOT NULL REFERENCES point (id),
    seq               INTEGER NOT NULL,          -- order of execution
    round             INTEGER NOT NULL CHECK (round >= 0),
    statement         TEXT    NOT NULL,          -- e.g. "Q14"
    elapsed_us        INTEGER CHECK (elapsed_us >= 0), -- null: it failed
    plan              TEXT,                      -- fingerprint
    device_read_bytes INTEGER CHECK (device_read_bytes >= 0),
    buffer_gets       INTEGER CHECK (buffer_gets >= 0),
    pages_read        INTEGER CHECK (pages_read >= 0),
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;
-- What was seen of a database at work, a table in each row.
CREATE TABLE observed (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    about          TEXT    NOT NULL,             -- "server", "activity", "load", "statements", ...
    source         TEXT    NOT NULL,             -- as the server calls it
    remark         TEXT,                         -- why there are no rows, or what they lack
    columns        TEXT    NOT NULL CHECK (json_valid(columns)),   -- [{"name", "unit"}, ...]
    rows           TEXT    NOT NULL CHECK (json_valid(rows)),      -- [["a text", 1.5, null], ...]
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;
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
       point.*
FROM point JOIN run ON run.id = point.run_id;
