SELECT count(*) FROM range(2, CAST(? AS BIGINT) + 1) AS number(n)
WHERE NOT EXISTS (
  SELECT 1 FROM range(2, 72) AS divisor(k) WHERE divisor.k * divisor.k <= number.n AND number.n % divisor.k = 0
)
