DROP FUNCTION IF EXISTS {schema}.dbdyno_t132;
CREATE FUNCTION {schema}.dbdyno_t132(passes BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  DECLARE i BIGINT DEFAULT 1;
  DECLARE total BIGINT DEFAULT 0;
  WHILE i <= passes DO
    SET total = total + ((i * 7919 + 13) % 1009) * (i % 7);
    SET i = i + 1;
  END WHILE;
  RETURN total;
END
