-- The statements of the transactions. A step is asked at once; the last statement of one gives the answer.
-- Amounts come back in cents and rates in units of four places; {…} is repeated for every line of an order.
-- An UPDATE returns no rows here, so that what it changed is read by a second statement. A customer meant by name
-- is looked up without locks, which an UPDATE's own query would take on all who bear it: names never change.
-- step: session
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED;
-- step: new order: customer
SELECT CAST(w_tax * 10000 AS SIGNED), CAST(c_discount * 10000 AS SIGNED), c_last, c_credit
FROM warehouse JOIN customer ON c_w_id = w_id
WHERE w_id = :w AND c_d_id = :d AND c_id = :c_id;
-- step: new order: stock
UPDATE stock
SET s_quantity = s_quantity - :quantity + CASE WHEN s_quantity >= :quantity + 10 THEN 0 ELSE 91 END,
    s_ytd = s_ytd + :quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + :remote
WHERE s_w_id = :supply_w AND s_i_id = :item;
SELECT CAST(i_price * 100 AS SIGNED),
  CASE :d
    WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
    WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
    WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
  s_quantity, i_name,
  CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END
FROM stock JOIN item ON i_id = s_i_id
WHERE s_w_id = :supply_w AND s_i_id = :item;
-- step: new order: district
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w AND d_id = :d;
SELECT d_next_o_id - 1, CAST(d_tax * 10000 AS SIGNED) FROM district WHERE d_w_id = :w AND d_id = :d;
-- step: new order: order
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
SELECT d_next_o_id - 1, d_id, d_w_id, :c_id, :now, NULL, :lines, :all_local
FROM district WHERE d_w_id = :w AND d_id = :d;
INSERT INTO new_order (no_o_id, no_d_id, no_w_id)
SELECT d_next_o_id - 1, d_id, d_w_id FROM district WHERE d_w_id = :w AND d_id = :d;
-- step: new order: lines
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
  ol_quantity, ol_amount, ol_dist_info)
VALUES {((SELECT d_next_o_id - 1 FROM district WHERE d_w_id = :w AND d_id = :d), :d, :w, :number, :item, :supply_w,
  NULL, :quantity, :line_amount, :dist_info)};
-- step: payment: customer by id
UPDATE customer
SET c_balance = c_balance - :amount, c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1,
  c_data = CASE c_credit
    WHEN 'BC' THEN LEFT(CONCAT_WS(' ', c_id, c_d_id, c_w_id, :d, :w, :amount, c_data), 500)
    ELSE c_data END
WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_id = :c_id;
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES (:c_id, :c_d, :c_w, :d, :w, :now, :amount, :mark);
SELECT c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
  CAST(c_since AS CHAR), c_credit, CAST(c_credit_lim * 100 AS SIGNED), CAST(c_discount * 10000 AS SIGNED),
  CAST(c_balance * 100 AS SIGNED), CASE c_credit WHEN 'BC' THEN LEFT(c_data, 200) END
FROM customer WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_id = :c_id;
-- step: payment: customer by name
SELECT id INTO @dbdyno_customer FROM (
  SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
  FROM customer WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_last = :c_last
) AS named WHERE place = (bearers + 1) DIV 2;
UPDATE customer
SET c_balance = c_balance - :amount, c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1,
  c_data = CASE c_credit
    WHEN 'BC' THEN LEFT(CONCAT_WS(' ', c_id, c_d_id, c_w_id, :d, :w, :amount, c_data), 500)
    ELSE c_data END
WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_id = @dbdyno_customer;
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES (@dbdyno_customer, :c_d, :c_w, :d, :w, :now, :amount, :mark);
SELECT c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
  CAST(c_since AS CHAR), c_credit, CAST(c_credit_lim * 100 AS SIGNED), CAST(c_discount * 10000 AS SIGNED),
  CAST(c_balance * 100 AS SIGNED), CASE c_credit WHEN 'BC' THEN LEFT(c_data, 200) END
FROM customer WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_id = @dbdyno_customer;
-- step: payment: district
SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = :w AND d_id = :d;
UPDATE district SET d_ytd = d_ytd + :amount WHERE d_w_id = :w AND d_id = :d;
-- step: payment: warehouse
SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = :w;
UPDATE warehouse SET w_ytd = w_ytd + :amount WHERE w_id = :w;
-- step: order status: by id
SELECT o_ol_cnt, c_id, c_first, c_middle, c_last, CAST(c_balance * 100 AS SIGNED), o_id, CAST(o_entry_d AS CHAR),
  o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, CAST(ol_amount * 100 AS SIGNED), CAST(ol_delivery_d AS CHAR)
FROM customer
JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_id = (
  SELECT max(latest.o_id) FROM orders AS latest
  WHERE latest.o_w_id = :w AND latest.o_d_id = :d AND latest.o_c_id = :c_id
)
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c_id;
-- step: order status: by name
SELECT o_ol_cnt, c_id, c_first, c_middle, c_last, CAST(c_balance * 100 AS SIGNED), o_id, CAST(o_entry_d AS CHAR),
  o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, CAST(ol_amount * 100 AS SIGNED), CAST(ol_delivery_d AS CHAR)
FROM (
  SELECT id FROM (
    SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
    FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_last = :c_last
  ) AS named WHERE place = (bearers + 1) DIV 2
) AS meant
JOIN customer ON c_w_id = :w AND c_d_id = :d AND c_id = meant.id
JOIN orders ON o_w_id = :w AND o_d_id = :d AND o_id = (
  SELECT max(latest.o_id) FROM orders AS latest
  WHERE latest.o_w_id = :w AND latest.o_d_id = :d AND latest.o_c_id = meant.id
)
JOIN order_line ON ol_w_id = :w AND ol_d_id = :d AND ol_o_id = o_id;
-- step: delivery: oldest, returning
DELETE FROM new_order WHERE no_w_id = :w AND no_d_id = :d ORDER BY no_o_id LIMIT 1 RETURNING no_o_id;
-- step: delivery: oldest
SET @oldest = (SELECT no_o_id FROM new_order WHERE no_w_id = :w AND no_d_id = :d ORDER BY no_o_id LIMIT 1 FOR UPDATE);
DELETE FROM new_order WHERE no_w_id = :w AND no_d_id = :d AND no_o_id = @oldest;
SELECT CAST(@oldest AS SIGNED) FROM dual WHERE @oldest IS NOT NULL;
-- step: delivery: order
UPDATE orders SET o_carrier_id = :carrier WHERE o_w_id = :w AND o_d_id = :d AND o_id = :o_id;
SELECT o_c_id FROM orders WHERE o_w_id = :w AND o_d_id = :d AND o_id = :o_id;
-- step: delivery: lines
UPDATE order_line SET ol_delivery_d = :now WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o_id;
SELECT CAST(sum(ol_amount) * 100 AS SIGNED) FROM order_line
WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o_id;
-- step: delivery: customer
UPDATE customer SET c_balance = c_balance + :total, c_delivery_cnt = c_delivery_cnt + 1
WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c_id;
-- step: stock level: count
SELECT count(DISTINCT s_i_id)
FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
WHERE ol_w_id = :w AND ol_d_id = :d
  AND ol_o_id BETWEEN (SELECT d_next_o_id - 20 FROM district WHERE d_w_id = :w AND d_id = :d)
    AND (SELECT d_next_o_id - 1 FROM district WHERE d_w_id = :w AND d_id = :d)
  AND s_quantity < :threshold;
