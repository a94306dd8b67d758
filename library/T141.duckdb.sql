SELECT sum(length(replace('row-' || i || '-end', '1', 'one')) + instr('row-' || i, '7'))
FROM range(1, CAST(? AS BIGINT) + 1) AS loop(i)
