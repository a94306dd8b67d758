SELECT w, d, sum(all_orders) AS total_all_orders, sum(new_orders) AS total_new_orders
FROM (
  SELECT d_w_id AS w, d_id AS d, 0 AS all_orders, 0 AS new_orders FROM district
  UNION ALL
  SELECT o_w_id, o_d_id, count(*), 0 FROM orders GROUP BY o_w_id, o_d_id
  UNION ALL
  SELECT no_w_id, no_d_id, 0, count(*) FROM new_order GROUP BY no_w_id, no_d_id
) sides
GROUP BY w, d
HAVING sum(all_orders) - sum(new_orders) <> :delivered
