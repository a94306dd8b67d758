SELECT w, printf('%.2f', sum(ytd) / 100.0) AS total_ytd, printf('%.2f', sum(paid) / 100.0) AS total_paid
FROM (
  SELECT w_id AS w, CAST(round(COALESCE(w_ytd, 0) * 100) AS INTEGER) AS ytd, 0 AS paid FROM warehouse
  UNION ALL
  SELECT h_w_id, 0, sum(CAST(round(COALESCE(h_amount, 0) * 100) AS INTEGER)) FROM history GROUP BY h_w_id
)
GROUP BY w
HAVING sum(ytd) <> sum(paid)
