-- Customers without a delivered line or without a payment have a sum of 0 there, not none.
SELECT w, d, c, printf('%.2f', sum(balance) / 100.0) AS total_balance, printf('%.2f', sum(delivered) / 100.0) AS total_delivered, printf('%.2f', sum(paid) / 100.0) AS total_paid
FROM (
  SELECT c_w_id AS w, c_d_id AS d, c_id AS c, CAST(round(COALESCE(c_balance, 0) * 100) AS INTEGER) AS balance, 0 AS delivered, 0 AS paid FROM customer
  UNION ALL
  SELECT o_w_id, o_d_id, o_c_id, 0, amount, 0
  FROM orders
  JOIN (
    SELECT ol_w_id, ol_d_id, ol_o_id, sum(CAST(round(COALESCE(ol_amount, 0) * 100) AS INTEGER)) AS amount
    FROM order_line
    WHERE ol_delivery_d IS NOT NULL
    GROUP BY ol_w_id, ol_d_id, ol_o_id
  ) delivered ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
  UNION ALL
  SELECT h_c_w_id, h_c_d_id, h_c_id, 0, 0, CAST(round(COALESCE(h_amount, 0) * 100) AS INTEGER) FROM history
) sides
GROUP BY w, d, c
HAVING sum(balance) <> sum(delivered) - sum(paid)
