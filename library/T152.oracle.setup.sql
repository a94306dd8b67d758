-- NVL: the stand-in for Oracle describes a query by calling its functions with nulls.
CREATE OR REPLACE FUNCTION {schema}.dbdyno_t152(largest NUMBER) RETURN NUMBER AS
  primes NUMBER := 0;
  divisor NUMBER;
BEGIN
  FOR n IN 2..NVL(largest, 0) LOOP
    divisor := 2;
    WHILE divisor * divisor <= n AND MOD(n, divisor) <> 0 LOOP
      divisor := divisor + 1;
    END LOOP;
    IF divisor * divisor > n THEN
      primes := primes + 1;
    END IF;
  END LOOP;
  RETURN primes;
END;
