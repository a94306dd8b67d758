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

