-- Customers without a delivered line have a sum of 0 there, not none.
SELECT w, d, c, sum(own) AS total_own, sum(delivered) AS total_delivered
FROM (
  SELECT c_w_id AS w, c_d_id AS d, c_id AS c, COALESCE(c_balance, 0) + COALESCE(c_ytd_payment, 0) AS own, 0 AS delivered
  FROM customer
  UNION ALL
  SELECT o_w_id, o_d_id, o_c_id, 0, amount
  FROM orders
  JOIN (
    SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS amount
    FROM order_line
    WHERE ol_delivery_d IS NOT NULL
    GROUP BY ol_w_id, ol_d_id, ol_o_id
  ) delivered ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
) both_sides
GROUP BY w, d, c
HAVING sum(own) <> sum(delivered)
