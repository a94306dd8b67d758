WITH RECURSIVE loop(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM loop WHERE i < ?)
SELECT sum(CASE WHEN (i * 0.731e0 + 1.5e0) * (i + 2.25e0) / (i * 1.37e0 + 0.5e0)
                > i * 0.53358e0 + (i % 10) * 0.3e0 THEN 1 ELSE 0 END)
FROM loop
