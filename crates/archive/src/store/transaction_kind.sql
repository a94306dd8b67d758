
-- What each kind of transaction of a point did.
CREATE TABLE transaction_kind (
    point_id       INTEGER NOT NULL REFERENCES point (id),
    seq            INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    completed      INTEGER NOT NULL CHECK (completed >= 0),
    rows           INTEGER NOT NULL CHECK (rows >= 0),   -- returned or changed by those that were completed
    PRIMARY KEY (point_id, seq)
) STRICT, WITHOUT ROWID;
