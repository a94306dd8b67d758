CREATE TABLE {table} (
  id      INTEGER PRIMARY KEY,
  skey    BIGINT NOT NULL,
  grp     BIGINT NOT NULL,
  amount  BIGINT NOT NULL,
  day     BIGINT NOT NULL,
  version BIGINT NOT NULL,
  label   VARCHAR(16) NOT NULL,
  pad     VARCHAR(224) NOT NULL
)
