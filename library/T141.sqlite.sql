WITH RECURSIVE loop(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM loop WHERE i < ?)
SELECT sum(length(replace('row-' || i || '-end', '1', 'one')) + instr('row-' || i, '7'))
FROM loop
