
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
