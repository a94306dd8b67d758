WITH RECURSIVE loop(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM loop WHERE i < ?)
SELECT sum(((i * 7919 + 13) % 1009) * (i % 7))
FROM loop
