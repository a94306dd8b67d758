CREATE TABLE {table} (
  id      BIGINT NOT NULL,
  payload BYTEA NOT NULL
);
-- Blocks that cannot be compressed are stored as they are, without trying.
ALTER TABLE {table} ALTER COLUMN payload SET STORAGE EXTERNAL
