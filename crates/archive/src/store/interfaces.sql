
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
