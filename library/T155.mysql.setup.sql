DROP PROCEDURE IF EXISTS {schema}.dbdyno_t155_call;
DROP PROCEDURE IF EXISTS {schema}.dbdyno_t155;
CREATE PROCEDURE {schema}.dbdyno_t155_call(IN n BIGINT, OUT fib BIGINT) NO SQL
BEGIN
  DECLARE before1 BIGINT;
  DECLARE before2 BIGINT;
  IF n < 2 THEN
    SET fib = n;
  ELSE
    CALL dbdyno_t155_call(n - 1, before1);
    CALL dbdyno_t155_call(n - 2, before2);
    SET fib = before1 + before2;
  END IF;
END;
CREATE PROCEDURE {schema}.dbdyno_t155(IN n BIGINT) NO SQL
BEGIN
  DECLARE fib BIGINT;
  CALL dbdyno_t155_call(n, fib);
  SELECT fib;
END
