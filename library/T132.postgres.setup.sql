CREATE OR REPLACE FUNCTION {schema}.dbdyno_t132(passes bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  total bigint := 0;
BEGIN
  FOR i IN 1..passes LOOP
    total := total + ((i * 7919 + 13) % 1009) * (i % 7);
  END LOOP;
  RETURN total;
END
$$
