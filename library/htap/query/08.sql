SELECT o_carrier_id, count(*) AS delivered, sum(CASE WHEN ol_delivery_d > o_entry_d THEN 1 ELSE 0 END) AS late
FROM orders
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE o_carrier_id IS NOT NULL AND ol_number = 1
GROUP BY o_carrier_id
ORDER BY o_carrier_id
