CREATE OR REPLACE FUNCTION {schema}.dbdyno_t133(passes bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  total bigint := 0;
  x double precision;
BEGIN
  FOR i IN 1..passes LOOP
    x := i;
    IF (x * 0.731::double precision + 1.5::double precision) * (x + 2.25::double precision)
         / (x * 1.37::double precision + 0.5::double precision)
       > x * 0.53358::double precision + (i % 10) * 0.3::double precision THEN
      total := total + 1;
    END IF;
  END LOOP;
  RETURN total;
END
$$
