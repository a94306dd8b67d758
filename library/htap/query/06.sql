SELECT s_w_id, count(*) AS items, sum(s_quantity) AS quantity, sum(s_order_cnt) AS orders_of_items,
  round(sum(i_price * s_quantity), 2) AS worth
FROM stock
JOIN item ON i_id = s_i_id
WHERE s_quantity < 15
GROUP BY s_w_id
ORDER BY s_w_id
