SELECT w, sum(ytd) AS total_ytd, sum(paid) AS total_paid
FROM (
  SELECT w_id AS w, COALESCE(w_ytd, 0) AS ytd, 0 AS paid FROM warehouse
  UNION ALL
  SELECT h_w_id, 0, sum(h_amount) FROM history GROUP BY h_w_id
) both_sides
GROUP BY w
HAVING sum(ytd) <> sum(paid)
