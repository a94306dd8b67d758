SELECT no_w_id AS w, no_d_id AS d, min(no_o_id) AS low, max(no_o_id) AS high, count(*) AS total_present
FROM new_order
GROUP BY no_w_id, no_d_id
HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)
