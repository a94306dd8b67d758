SELECT w, sum(ytd) AS total_ytd, sum(districts) AS total_districts
FROM (
  SELECT w_id AS w, COALESCE(w_ytd, 0) AS ytd, 0 AS districts FROM warehouse
  UNION ALL
  SELECT d_w_id, 0, COALESCE(d_ytd, 0) FROM district
) both_sides
GROUP BY w
HAVING sum(ytd) <> sum(districts)
