
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
