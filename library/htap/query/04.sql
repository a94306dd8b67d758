SELECT d_w_id, d_id, d_name, count(*) AS order_lines, round(sum(ol_amount), 2) AS amount
FROM district
JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id
GROUP BY d_w_id, d_id, d_name
ORDER BY amount DESC, d_w_id, d_id
LIMIT 10
