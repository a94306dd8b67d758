SELECT o_orderpriority, count(*) AS order_count
FROM orders
WHERE o_orderdate >= '{first_day}'
  AND o_orderdate < '{end_day}'
  AND EXISTS (
    SELECT *
    FROM lineitem
    WHERE l_orderkey = o_orderkey
      AND l_commitdate < l_receiptdate
  )
GROUP BY o_orderpriority
ORDER BY o_orderpriority
