CREATE OR REPLACE FUNCTION {schema}.dbdyno_t141(passes bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  total bigint := 0;
BEGIN
  FOR i IN 1..passes LOOP
    total := total + length(replace('row-' || i || '-end', '1', 'one')) + strpos('row-' || i, '7');
  END LOOP;
  RETURN total;
END
$$
