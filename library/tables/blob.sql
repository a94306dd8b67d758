CREATE TABLE {table} (
  id      BIGINT NOT NULL,
  payload BLOB NOT NULL
)
