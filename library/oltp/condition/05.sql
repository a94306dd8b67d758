SELECT w, d, o, sum(undelivered) AS total_undelivered, sum(listed) AS total_listed
FROM (
  SELECT o_w_id AS w, o_d_id AS d, o_id AS o,
    CASE WHEN o_carrier_id IS NULL THEN 1 ELSE 0 END AS undelivered, 0 AS listed
  FROM orders
  UNION ALL
  SELECT no_w_id, no_d_id, no_o_id, 0, 1 FROM new_order
) both_sides
GROUP BY w, d, o
HAVING sum(undelivered) <> sum(listed)
