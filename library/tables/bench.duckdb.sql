-- Whether FSST pays off for random letters is a close call that DuckDB makes on a sample, and scans differ five-fold by it.
CREATE TABLE {table} (
  id      BIGINT NOT NULL PRIMARY KEY,
  skey    BIGINT NOT NULL,
  grp     BIGINT NOT NULL,
  amount  BIGINT NOT NULL,
  day     BIGINT NOT NULL,
  version BIGINT NOT NULL,
  label   VARCHAR(16) NOT NULL,
  pad     VARCHAR(224) NOT NULL USING COMPRESSION uncompressed
)
