SELECT count(*) AS order_lines, round(sum(ol_amount), 2) AS amount
FROM order_line
WHERE ol_quantity <= 5 AND ol_amount >= 100 AND ol_amount < 5000
