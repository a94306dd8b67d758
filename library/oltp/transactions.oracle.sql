-- The statements of the transactions. A step is asked at once; the last statement of one gives the answer.
-- Amounts come back in cents and rates in units of four places; {…|…} is repeated for every line of an order, with the separator between.
-- RETURNING gives values of the changed row alone, so that what stands elsewhere is read by a second statement.
-- step: new order: customer
SELECT CAST(w_tax * 10000 AS INTEGER), CAST(c_discount * 10000 AS INTEGER), c_last, c_credit
FROM warehouse JOIN customer ON c_w_id = w_id
WHERE w_id = :w AND c_d_id = :d AND c_id = :c_id;
-- step: new order: stock
UPDATE stock
SET s_quantity = s_quantity - :quantity + CASE WHEN s_quantity >= :quantity + 10 THEN 0 ELSE 91 END,
    s_ytd = s_ytd + :quantity, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + :remote
WHERE s_w_id = :supply_w AND s_i_id = :item;
SELECT CAST(i_price * 100 AS INTEGER),
  CASE CAST(:d AS INTEGER)
    WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
    WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
    WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
  s_quantity, i_name,
  CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END
FROM stock JOIN item ON i_id = s_i_id
WHERE s_w_id = :supply_w AND s_i_id = :item;
-- step: new order: district
UPDATE district SET d_next_o_id = d_next_o_id + 1
WHERE d_w_id = :w AND d_id = :d
RETURNING CAST(d_next_o_id - 1 AS INTEGER), CAST(d_tax * 10000 AS INTEGER);
-- step: new order: order
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
SELECT d_next_o_id - 1, d_id, d_w_id, :c_id, :now, NULL, :lines, :all_local
FROM district WHERE d_w_id = :w AND d_id = :d;
INSERT INTO new_order (no_o_id, no_d_id, no_w_id)
SELECT d_next_o_id - 1, d_id, d_w_id FROM district WHERE d_w_id = :w AND d_id = :d;
-- step: new order: lines
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
  ol_quantity, ol_amount, ol_dist_info)
SELECT d_next_o_id - 1, d_id, d_w_id, line_number, line_item, line_supply_w, NULL, line_quantity, line_amount, line_info
FROM district, (
  {SELECT CAST(:number AS NUMBER(5)) AS line_number, CAST(:item AS NUMBER(10)) AS line_item,
    CAST(:supply_w AS NUMBER(10)) AS line_supply_w, CAST(:quantity AS NUMBER(5)) AS line_quantity,
    CAST(:line_amount AS NUMBER(8,2)) AS line_amount, CAST(:dist_info AS VARCHAR2(24)) AS line_info FROM dual| UNION ALL }
) lines
WHERE d_w_id = :w AND d_id = :d;
-- step: payment: customer by id
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES (:c_id, :c_d, :c_w, :d, :w, :now, :amount, :mark);
UPDATE customer
SET c_balance = c_balance - :amount, c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1,
  c_data = CASE c_credit
    WHEN 'BC' THEN SUBSTR(c_id || ' ' || c_d_id || ' ' || c_w_id || ' ' || :d || ' ' || :w || ' ' || :amount || ' '
      || c_data, 1, 500)
    ELSE c_data END
WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_id = :c_id
RETURNING CAST(c_id AS INTEGER), c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
  TO_CHAR(c_since, 'YYYY-MM-DD HH24:MI:SS'), c_credit, CAST(c_credit_lim * 100 AS INTEGER),
  CAST(c_discount * 10000 AS INTEGER), CAST(c_balance * 100 AS INTEGER),
  CASE c_credit WHEN 'BC' THEN SUBSTR(c_data, 1, 200) END;
-- step: payment: customer by name
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
SELECT id, :c_d, :c_w, :d, :w, :now, :amount, :mark FROM (
  SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
  FROM customer WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_last = :c_last
) named WHERE place = TRUNC((bearers + 1) / 2);
UPDATE customer
SET c_balance = c_balance - :amount, c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1,
  c_data = CASE c_credit
    WHEN 'BC' THEN SUBSTR(c_id || ' ' || c_d_id || ' ' || c_w_id || ' ' || :d || ' ' || :w || ' ' || :amount || ' '
      || c_data, 1, 500)
    ELSE c_data END
WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_id = (
  SELECT id FROM (
    SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
    FROM customer WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_last = :c_last
  ) named WHERE place = TRUNC((bearers + 1) / 2)
)
RETURNING CAST(c_id AS INTEGER), c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
  TO_CHAR(c_since, 'YYYY-MM-DD HH24:MI:SS'), c_credit, CAST(c_credit_lim * 100 AS INTEGER),
  CAST(c_discount * 10000 AS INTEGER), CAST(c_balance * 100 AS INTEGER),
  CASE c_credit WHEN 'BC' THEN SUBSTR(c_data, 1, 200) END;
-- step: payment: district
UPDATE district SET d_ytd = d_ytd + :amount
WHERE d_w_id = :w AND d_id = :d
RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip;
-- step: payment: warehouse
UPDATE warehouse SET w_ytd = w_ytd + :amount
WHERE w_id = :w
RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip;
-- step: order status: by id
SELECT o_ol_cnt, c_id, c_first, c_middle, c_last, CAST(c_balance * 100 AS INTEGER), o_id,
  TO_CHAR(o_entry_d, 'YYYY-MM-DD HH24:MI:SS'), o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity,
  CAST(ol_amount * 100 AS INTEGER), TO_CHAR(ol_delivery_d, 'YYYY-MM-DD HH24:MI:SS')
FROM customer
CROSS JOIN LATERAL (
  SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt FROM orders
  WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id ORDER BY o_id DESC FETCH FIRST 1 ROWS ONLY
) latest
JOIN order_line ON ol_w_id = c_w_id AND ol_d_id = c_d_id AND ol_o_id = o_id
WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c_id;
-- step: order status: by name
SELECT o_ol_cnt, c_id, c_first, c_middle, c_last, CAST(c_balance * 100 AS INTEGER), o_id,
  TO_CHAR(o_entry_d, 'YYYY-MM-DD HH24:MI:SS'), o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity,
  CAST(ol_amount * 100 AS INTEGER), TO_CHAR(ol_delivery_d, 'YYYY-MM-DD HH24:MI:SS')
FROM customer
CROSS JOIN LATERAL (
  SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt FROM orders
  WHERE o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id ORDER BY o_id DESC FETCH FIRST 1 ROWS ONLY
) latest
JOIN order_line ON ol_w_id = c_w_id AND ol_d_id = c_d_id AND ol_o_id = o_id
WHERE c_w_id = :w AND c_d_id = :d AND c_id = (
  SELECT id FROM (
    SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
    FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_last = :c_last
  ) named WHERE place = TRUNC((bearers + 1) / 2)
);
-- step: delivery: oldest
DELETE FROM new_order
WHERE no_w_id = :w AND no_d_id = :d
  AND no_o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = :w AND no_d_id = :d)
RETURNING CAST(no_o_id AS INTEGER);
-- step: delivery: order
UPDATE orders SET o_carrier_id = :carrier
WHERE o_w_id = :w AND o_d_id = :d AND o_id = :o_id
RETURNING CAST(o_c_id AS INTEGER);
-- step: delivery: lines
UPDATE order_line SET ol_delivery_d = :now
WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o_id;
SELECT CAST(sum(ol_amount) * 100 AS INTEGER) FROM order_line
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
