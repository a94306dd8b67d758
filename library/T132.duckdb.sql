SELECT sum(((i * 7919 + 13) % 1009) * (i % 7))
FROM range(1, CAST(? AS BIGINT) + 1) AS loop(i)
