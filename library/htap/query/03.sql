SELECT no_w_id, no_d_id, no_o_id, c_last, count(*) AS order_lines, round(sum(ol_amount), 2) AS amount
FROM new_order
JOIN orders ON o_w_id = no_w_id AND o_d_id = no_d_id AND o_id = no_o_id
JOIN customer ON c_w_id = o_w_id AND c_d_id = o_d_id AND c_id = o_c_id
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
GROUP BY no_w_id, no_d_id, no_o_id, c_last
ORDER BY amount DESC, no_w_id, no_d_id, no_o_id
LIMIT 10
