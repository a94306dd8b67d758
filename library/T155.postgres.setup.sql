CREATE OR REPLACE FUNCTION {schema}.dbdyno_t155(n bigint) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  IF n < 2 THEN
    RETURN n;
  END IF;
  RETURN dbdyno_t155(n - 1) + dbdyno_t155(n - 2);
END
$$
