CREATE OR REPLACE FUNCTION {schema}.dbdyno_t132(passes NUMBER) RETURN NUMBER AS
  -- NUMBER, not PLS_INTEGER: decimal arithmetic is what applications have, and what ref:dl980-violin measured.
  i NUMBER := 1;
  total NUMBER := 0;
BEGIN
  WHILE i <= passes LOOP
    total := total + MOD(i * 7919 + 13, 1009) * MOD(i, 7);
    i := i + 1;
  END LOOP;
  RETURN total;
END;
