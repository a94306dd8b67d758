
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
