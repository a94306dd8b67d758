DROP PROCEDURE IF EXISTS {schema}.dbdyno_t153_sort;
DROP PROCEDURE IF EXISTS {schema}.dbdyno_t153;
-- Sorts an array of integers of five digits, packed one after the other: there are no arrays. Parts it
-- in place (Hoare), calls itself for the smaller part and goes on with the larger one, so that it fits
-- into the stack of a thread; each part is a copy, so that what an exchange copies shrinks.
CREATE PROCEDURE {schema}.dbdyno_t153_sort(INOUT packed LONGBLOB) NO SQL
BEGIN
  DECLARE i, j, size INT;
  DECLARE a, b, pivot BINARY(5);
  DECLARE part LONGBLOB;
  DECLARE below, above LONGBLOB DEFAULT '';
  SET size = length(packed) DIV 5;
  WHILE size > 1 DO
    SET pivot = substr(packed, ((size - 1) DIV 2) * 5 + 1, 5);
    SET i = 0;
    SET j = size - 1;
    parting: LOOP
      SET a = substr(packed, i * 5 + 1, 5);
      WHILE a < pivot DO
        SET i = i + 1;
        SET a = substr(packed, i * 5 + 1, 5);
      END WHILE;
      SET b = substr(packed, j * 5 + 1, 5);
      WHILE b > pivot DO
        SET j = j - 1;
        SET b = substr(packed, j * 5 + 1, 5);
      END WHILE;
      IF i >= j THEN
        LEAVE parting;
      END IF;
      SET packed = insert(insert(packed, i * 5 + 1, 5, b), j * 5 + 1, 5, a);
      SET i = i + 1;
      SET j = j - 1;
    END LOOP;
    IF j + 1 <= size - j - 1 THEN
      SET part = substr(packed, 1, (j + 1) * 5);
      SET packed = substr(packed, (j + 1) * 5 + 1);
      CALL dbdyno_t153_sort(part);
      SET below = concat(below, part);
    ELSE
      SET part = substr(packed, (j + 1) * 5 + 1);
      SET packed = substr(packed, 1, (j + 1) * 5);
      CALL dbdyno_t153_sort(part);
      SET above = concat(part, above);
    END IF;
    SET size = length(packed) DIV 5;
  END WHILE;
  SET packed = concat(below, packed, above);
END;
-- Makes an array of pseudo-random integers, sorts it and answers 1 when it is in order and its sum is
-- what it was.
CREATE PROCEDURE {schema}.dbdyno_t153(IN elements BIGINT) NO SQL
BEGIN
  DECLARE i INT DEFAULT 0;
  DECLARE number INT DEFAULT 42;
  DECLARE total, found, in_order BIGINT DEFAULT 0;
  DECLARE packed LONGBLOB DEFAULT '';
  DECLARE this, last BINARY(5) DEFAULT '00000';
  WHILE i < elements DO
    SET number = (number * 8121 + 28411) % 134456;
    SET packed = concat(packed, lpad(number % 100000, 5, '0'));
    SET total = total + number % 100000;
    SET i = i + 1;
  END WHILE;
  CALL dbdyno_t153_sort(packed);
  SET in_order = 1;
  SET i = 0;
  WHILE i < elements DO
    SET this = substr(packed, i * 5 + 1, 5);
    IF this < last THEN
      SET in_order = 0;
    END IF;
    SET found = found + this;
    SET last = this;
    SET i = i + 1;
  END WHILE;
  SELECT CAST(in_order AND found = total AND length(packed) = elements * 5 AS SIGNED) AS is_sorted;
END
