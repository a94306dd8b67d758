SELECT sum(CASE WHEN (i * 0.731e0 + 1.5e0) * (i + 2.25e0) / (i * 1.37e0 + 0.5e0)
                > i * 0.53358e0 + (i % 10) * 0.3e0 THEN 1 ELSE 0 END)
FROM range(1, CAST(? AS BIGINT) + 1) AS loop(i)
