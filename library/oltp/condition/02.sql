-- -1 stands for none. A district all of whose orders are delivered has no new order.
SELECT w, d, max(next_id) AS total_next_id, max(order_id) AS total_order_id, max(new_order_id) AS total_new_order_id
FROM (
  SELECT d_w_id AS w, d_id AS d, d_next_o_id - 1 AS next_id, -1 AS order_id, -1 AS new_order_id FROM district
  UNION ALL
  SELECT o_w_id, o_d_id, -1, max(o_id), -1 FROM orders GROUP BY o_w_id, o_d_id
  UNION ALL
  SELECT no_w_id, no_d_id, -1, -1, max(no_o_id) FROM new_order GROUP BY no_w_id, no_d_id
) sides
GROUP BY w, d
HAVING max(next_id) <> max(order_id) OR max(new_order_id) NOT IN (-1, max(next_id))
