CREATE OR REPLACE FUNCTION {schema}.dbdyno_t152(largest bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  primes bigint := 0;
  divisor integer;
BEGIN
  <<numbers>>
  FOR n IN 2..largest LOOP
    divisor := 2;
    WHILE divisor * divisor <= n LOOP
      CONTINUE numbers WHEN n % divisor = 0;
      divisor := divisor + 1;
    END LOOP;
    primes := primes + 1;
  END LOOP;
  RETURN primes;
END
$$
