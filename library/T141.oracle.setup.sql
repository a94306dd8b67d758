-- NVL: the stand-in for Oracle describes a query by calling its functions with nulls.
CREATE OR REPLACE FUNCTION {schema}.dbdyno_t141(passes NUMBER) RETURN NUMBER AS
  total NUMBER := 0;
  word VARCHAR2(32);
BEGIN
  FOR i IN 1..NVL(passes, 0) LOOP
    word := 'row-' || i;
    total := total + LENGTH(REPLACE(word || '-end', '1', 'one')) + INSTR(word, '7');
  END LOOP;
  RETURN total;
END;
