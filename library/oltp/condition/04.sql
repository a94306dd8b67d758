SELECT w, d, sum(stated) AS total_stated, sum(present) AS total_present
FROM (
  SELECT o_w_id AS w, o_d_id AS d, sum(o_ol_cnt) AS stated, 0 AS present FROM orders GROUP BY o_w_id, o_d_id
  UNION ALL
  SELECT ol_w_id, ol_d_id, 0, count(*) FROM order_line GROUP BY ol_w_id, ol_d_id
) both_sides
GROUP BY w, d
HAVING sum(stated) <> sum(present)
