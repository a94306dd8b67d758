DROP FUNCTION IF EXISTS {schema}.dbdyno_t141;
CREATE FUNCTION {schema}.dbdyno_t141(passes BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
  DECLARE i BIGINT DEFAULT 1;
  DECLARE total BIGINT DEFAULT 0;
  DECLARE word VARCHAR(32);
  WHILE i <= passes DO
    SET word = concat('row-', i);
    SET total = total + char_length(replace(concat(word, '-end'), '1', 'one')) + instr(word, '7');
    SET i = i + 1;
  END WHILE;
  RETURN total;
END
