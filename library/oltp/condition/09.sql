SELECT w, d, sum(ytd) AS total_ytd, sum(paid) AS total_paid
FROM (
  SELECT d_w_id AS w, d_id AS d, COALESCE(d_ytd, 0) AS ytd, 0 AS paid FROM district
  UNION ALL
  SELECT h_w_id, h_d_id, 0, sum(h_amount) FROM history GROUP BY h_w_id, h_d_id
) both_sides
GROUP BY w, d
HAVING sum(ytd) <> sum(paid)
