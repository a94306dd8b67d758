SELECT i_id, i_name, sum(ol_quantity) AS quantity, round(sum(ol_amount), 2) AS amount
FROM order_line
JOIN item ON i_id = ol_i_id
GROUP BY i_id, i_name
ORDER BY amount DESC, i_id
LIMIT 20
