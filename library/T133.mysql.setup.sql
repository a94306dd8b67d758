DROP FUNCTION IF EXISTS {schema}.dbdyno_t133;
CREATE FUNCTION {schema}.dbdyno_t133(passes BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  DECLARE i BIGINT DEFAULT 1;
  DECLARE x DOUBLE;
  DECLARE larger BIGINT DEFAULT 0;
  WHILE i <= passes DO
    SET x = i;
    IF (x * 0.731e0 + 1.5e0) * (x + 2.25e0) / (x * 1.37e0 + 0.5e0)
       > x * 0.53358e0 + (i % 10) * 0.3e0 THEN
      SET larger = larger + 1;
    END IF;
    SET i = i + 1;
  END WHILE;
  RETURN larger;
END
