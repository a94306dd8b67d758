-- NVL: the stand-in for Oracle describes a query by calling its functions with nulls.
CREATE OR REPLACE FUNCTION {schema}.dbdyno_t151(n NUMBER) RETURN NUMBER AS
BEGIN
  IF NVL(n, 0) < 2 THEN
    RETURN n;
  END IF;
  RETURN dbdyno_t151(n - 1) + dbdyno_t151(n - 2);
END;
