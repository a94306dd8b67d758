SELECT c_w_id, c_credit, count(*) AS customers, round(sum(c_balance), 2) AS balance,
  round(sum(c_ytd_payment), 2) AS paid
FROM customer
GROUP BY c_w_id, c_credit
ORDER BY c_w_id, c_credit
