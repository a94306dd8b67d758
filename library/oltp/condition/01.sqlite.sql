SELECT w, printf('%.2f', sum(ytd) / 100.0) AS total_ytd, printf('%.2f', sum(districts) / 100.0) AS total_districts
FROM (
  SELECT w_id AS w, CAST(round(COALESCE(w_ytd, 0) * 100) AS INTEGER) AS ytd, 0 AS districts FROM warehouse
  UNION ALL
  SELECT d_w_id, 0, CAST(round(COALESCE(d_ytd, 0) * 100) AS INTEGER) FROM district
)
GROUP BY w
HAVING sum(ytd) <> sum(districts)
