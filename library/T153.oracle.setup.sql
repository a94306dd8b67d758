-- Fills a table in memory with pseudo-random numbers, sorts it by a procedure that calls itself for each part, and gives 1
-- when it is in order and has the sum it had before.
-- NVL: the stand-in for Oracle describes a query by calling its functions with nulls.
CREATE OR REPLACE PACKAGE {schema}.dbdyno_t153 AS
  TYPE numbers IS TABLE OF NUMBER INDEX BY PLS_INTEGER;
  PROCEDURE sort(a IN OUT NOCOPY numbers, low PLS_INTEGER, high PLS_INTEGER);
  FUNCTION sorted(elements NUMBER) RETURN NUMBER;
END;
/
CREATE OR REPLACE PACKAGE BODY {schema}.dbdyno_t153 AS
  PROCEDURE sort(a IN OUT NOCOPY numbers, low PLS_INTEGER, high PLS_INTEGER) AS
    i PLS_INTEGER := low;
    j PLS_INTEGER := high;
    middle PLS_INTEGER := TRUNC((low + high) / 2);
    pivot NUMBER;
    swap NUMBER;
  BEGIN
    IF low >= high THEN
      RETURN;
    END IF;
    pivot := a(middle);
    WHILE i <= j LOOP
      WHILE a(i) < pivot LOOP
        i := i + 1;
      END LOOP;
      WHILE a(j) > pivot LOOP
        j := j - 1;
      END LOOP;
      IF i <= j THEN
        swap := a(i);
        a(i) := a(j);
        a(j) := swap;
        i := i + 1;
        j := j - 1;
      END IF;
    END LOOP;
    sort(a, low, j);
    sort(a, i, high);
  END;

  FUNCTION sorted(elements NUMBER) RETURN NUMBER AS
    a numbers;
    x NUMBER := 42;
    total NUMBER := 0;
    last PLS_INTEGER := NVL(elements, 0);
  BEGIN
    IF last = 0 THEN
      RETURN 0;
    END IF;
    FOR k IN 1..last LOOP
      x := MOD(x * 1103515245 + 12345, 2147483648);
      a(k) := x;
      total := total + x;
    END LOOP;
    sort(a, 1, last);
    total := total - a(1);
    FOR k IN 2..last LOOP
      IF a(k - 1) > a(k) THEN
        RETURN 0;
      END IF;
      total := total - a(k);
    END LOOP;
    RETURN CASE WHEN total = 0 THEN 1 ELSE 0 END;
  END;
END;
/
