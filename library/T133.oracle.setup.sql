-- NVL: the stand-in for Oracle describes a query by calling its functions with nulls.
CREATE OR REPLACE FUNCTION {schema}.dbdyno_t133(passes NUMBER) RETURN NUMBER AS
  total PLS_INTEGER := 0;
  x BINARY_DOUBLE;
BEGIN
  FOR i IN 1..NVL(passes, 0) LOOP
    x := i;
    IF (x * 0.731d + 1.5d) * (x + 2.25d) / (x * 1.37d + 0.5d)
       > x * 0.53358d + MOD(i, 10) * 0.3d THEN
      total := total + 1;
    END IF;
  END LOOP;
  RETURN total;
END;
