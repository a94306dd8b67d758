WITH RECURSIVE
  number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < ?),
  divisor(k) AS MATERIALIZED (SELECT n FROM number WHERE n <= 71)
SELECT count(*) FROM number
WHERE NOT EXISTS (SELECT 1 FROM divisor WHERE k * k <= n AND n % k = 0)
