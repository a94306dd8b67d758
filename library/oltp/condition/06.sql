SELECT w, d, o, sum(stated) AS total_stated, sum(present) AS total_present
FROM (
  SELECT o_w_id AS w, o_d_id AS d, o_id AS o, COALESCE(o_ol_cnt, 0) AS stated, 0 AS present FROM orders
  UNION ALL
  SELECT ol_w_id, ol_d_id, ol_o_id, 0, count(*) FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id
) both_sides
GROUP BY w, d, o
HAVING sum(stated) <> sum(present)
