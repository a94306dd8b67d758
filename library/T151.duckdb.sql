WITH RECURSIVE call(n) AS (
  SELECT CAST(? AS BIGINT)
  UNION ALL
  SELECT call.n - step.k FROM call, (SELECT 1 AS k UNION ALL SELECT 2) AS step WHERE call.n >= 2
)
SELECT count(*) FROM call WHERE n = 1
