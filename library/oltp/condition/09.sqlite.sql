SELECT w, d, printf('%.2f', sum(ytd) / 100.0) AS total_ytd, printf('%.2f', sum(paid) / 100.0) AS total_paid
FROM (
  SELECT d_w_id AS w, d_id AS d, CAST(round(COALESCE(d_ytd, 0) * 100) AS INTEGER) AS ytd, 0 AS paid FROM district
  UNION ALL
  SELECT h_w_id, h_d_id, 0, sum(CAST(round(COALESCE(h_amount, 0) * 100) AS INTEGER)) FROM history GROUP BY h_w_id, h_d_id
)
GROUP BY w, d
HAVING sum(ytd) <> sum(paid)
