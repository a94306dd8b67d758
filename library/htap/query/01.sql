SELECT ol_number, count(*) AS order_lines, count(ol_delivery_d) AS delivered, sum(ol_quantity) AS quantity,
  round(sum(ol_amount), 2) AS amount
FROM order_line
GROUP BY ol_number
ORDER BY ol_number
