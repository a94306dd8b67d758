SELECT o_w_id AS w, o_d_id AS d, o_id AS o, o_carrier_id AS carrier, delivered, undelivered
FROM orders
JOIN (
  SELECT ol_w_id, ol_d_id, ol_o_id, count(ol_delivery_d) AS delivered, count(*) - count(ol_delivery_d) AS undelivered
  FROM order_line
  GROUP BY ol_w_id, ol_d_id, ol_o_id
) order_lines ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE (o_carrier_id IS NULL AND delivered > 0) OR (o_carrier_id IS NOT NULL AND undelivered > 0)
