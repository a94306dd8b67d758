CREATE TABLE {table} (
  id      BIGINT NOT NULL,
  payload LONGBLOB NOT NULL
)
