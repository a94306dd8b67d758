DROP FUNCTION IF EXISTS {schema}.dbdyno_t152;
CREATE FUNCTION {schema}.dbdyno_t152(last BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  DECLARE n BIGINT DEFAULT 2;
  DECLARE k BIGINT;
  DECLARE primes BIGINT DEFAULT 0;
  WHILE n <= last DO
    SET k = 2;
    WHILE k * k <= n AND n % k <> 0 DO
      SET k = k + 1;
    END WHILE;
    IF k * k > n THEN
      SET primes = primes + 1;
    END IF;
    SET n = n + 1;
  END WHILE;
  RETURN primes;
END
