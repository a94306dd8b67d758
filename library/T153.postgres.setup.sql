-- Fills an array with pseudo-random numbers, sorts it with a stack of ranges instead of recursion (a call
-- would copy the array), and gives 1 when it is in order and has the sum it had before.
CREATE OR REPLACE FUNCTION {schema}.dbdyno_t153(elements bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  a bigint[] := '{}';
  stack integer[] := ARRAY[1, elements::integer];
  top integer := 2;
  low integer;
  high integer;
  i integer;
  j integer;
  pivot bigint;
  swap bigint;
  x bigint := 42;
  total bigint := 0;
BEGIN
  FOR k IN 1..elements LOOP
    x := (x * 1103515245 + 12345) % 2147483648;
    a[k] := x;
    total := total + x;
  END LOOP;
  WHILE top > 0 LOOP
    high := stack[top];
    low := stack[top - 1];
    top := top - 2;
    CONTINUE WHEN low >= high;
    i := low;
    j := high;
    pivot := a[(low + high) / 2];
    WHILE i <= j LOOP
      WHILE a[i] < pivot LOOP
        i := i + 1;
      END LOOP;
      WHILE a[j] > pivot LOOP
        j := j - 1;
      END LOOP;
      IF i <= j THEN
        swap := a[i];
        a[i] := a[j];
        a[j] := swap;
        i := i + 1;
        j := j - 1;
      END IF;
    END LOOP;
    stack[top + 1] := low;
    stack[top + 2] := j;
    stack[top + 3] := i;
    stack[top + 4] := high;
    top := top + 4;
  END LOOP;
  total := total - a[1];
  FOR k IN 2..elements LOOP
    IF a[k - 1] > a[k] THEN
      RETURN 0;
    END IF;
    total := total - a[k];
  END LOOP;
  RETURN CASE WHEN total = 0 THEN 1 ELSE 0 END;
END
$$
