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
