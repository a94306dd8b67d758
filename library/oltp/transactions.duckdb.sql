-- The statements of the transactions. A step is asked at once; the last statement of one gives the answer.
-- Amounts come back in cents and rates in units of four places; {…} is repeated for every line of an order.
-- Values are cast where the engine would otherwise take their text for that of the column's type.
-- step: new order: customer
SELECT CAST(w_tax * 10000 AS INTEGER), CAST(c_discount * 10000 AS INTEGER), c_last, c_credit
FROM warehouse JOIN customer ON c_w_id = w_id
WHERE w_id = :w AND c_d_id = :d AND c_id = :c_id;
-- step: new order: stock
UPDATE stock
SET s_quantity = s_quantity - CAST(:quantity AS INTEGER)
      + CASE WHEN s_quantity >= CAST(:quantity AS INTEGER) + 10 THEN 0 ELSE 91 END,
    s_ytd = s_ytd + CAST(:quantity AS INTEGER), s_order_cnt = s_order_cnt + 1,
    s_remote_cnt = s_remote_cnt + CAST(:remote AS INTEGER)
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
RETURNING d_next_o_id - 1, CAST(d_tax * 10000 AS INTEGER);
-- step: new order: order
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
SELECT d_next_o_id - 1, d_id, d_w_id, CAST(:c_id AS INTEGER), CAST(:now AS TIMESTAMP), NULL,
  CAST(:lines AS INTEGER), CAST(:all_local AS INTEGER)
FROM district WHERE d_w_id = :w AND d_id = :d;
INSERT INTO new_order (no_o_id, no_d_id, no_w_id)
SELECT d_next_o_id - 1, d_id, d_w_id FROM district WHERE d_w_id = :w AND d_id = :d;
-- step: new order: lines
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
  ol_quantity, ol_amount, ol_dist_info)
SELECT d_next_o_id - 1, d_id, d_w_id, place, item, supply_w, NULL, quantity, amount, dist_info
FROM district, (VALUES {(CAST(:number AS INTEGER), CAST(:item AS INTEGER), CAST(:supply_w AS INTEGER),
  CAST(:quantity AS INTEGER), CAST(:line_amount AS DECIMAL(6,2)), CAST(:dist_info AS VARCHAR))})
  AS line (place, item, supply_w, quantity, amount, dist_info)
WHERE d_w_id = :w AND d_id = :d;
-- step: payment: customer by id
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES (:c_id, :c_d, :c_w, :d, :w, CAST(:now AS TIMESTAMP), CAST(:amount AS DECIMAL(6,2)), :mark);
UPDATE customer
SET c_balance = c_balance - CAST(:amount AS DECIMAL(12,2)),
  c_ytd_payment = c_ytd_payment + CAST(:amount AS DECIMAL(12,2)), c_payment_cnt = c_payment_cnt + 1,
  c_data = CASE c_credit
    WHEN 'BC' THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, CAST(:d AS INTEGER), CAST(:w AS INTEGER),
      CAST(:amount AS DECIMAL(12,2)), c_data), 500)
    ELSE c_data END
WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_id = :c_id
RETURNING c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
  CAST(c_since AS VARCHAR), c_credit, CAST(c_credit_lim * 100 AS BIGINT), CAST(c_discount * 10000 AS INTEGER),
  CAST(c_balance * 100 AS BIGINT), CASE c_credit WHEN 'BC' THEN left(c_data, 200) END;
-- step: payment: customer by name
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
SELECT id, CAST(:c_d AS INTEGER), CAST(:c_w AS INTEGER), CAST(:d AS INTEGER), CAST(:w AS INTEGER),
  CAST(:now AS TIMESTAMP), CAST(:amount AS DECIMAL(6,2)), CAST(:mark AS VARCHAR)
FROM (
  SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
  FROM customer WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_last = :c_last
) AS named WHERE place = (bearers + 1) // 2;
UPDATE customer
SET c_balance = c_balance - CAST(:amount AS DECIMAL(12,2)),
  c_ytd_payment = c_ytd_payment + CAST(:amount AS DECIMAL(12,2)), c_payment_cnt = c_payment_cnt + 1,
  c_data = CASE c_credit
    WHEN 'BC' THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, CAST(:d AS INTEGER), CAST(:w AS INTEGER),
      CAST(:amount AS DECIMAL(12,2)), c_data), 500)
    ELSE c_data END
WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_id = (
  SELECT id FROM (
    SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
    FROM customer WHERE c_w_id = :c_w AND c_d_id = :c_d AND c_last = :c_last
  ) AS named WHERE place = (bearers + 1) // 2
)
RETURNING c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
  CAST(c_since AS VARCHAR), c_credit, CAST(c_credit_lim * 100 AS BIGINT), CAST(c_discount * 10000 AS INTEGER),
  CAST(c_balance * 100 AS BIGINT), CASE c_credit WHEN 'BC' THEN left(c_data, 200) END;
-- step: payment: district
UPDATE district SET d_ytd = d_ytd + CAST(:amount AS DECIMAL(12,2))
WHERE d_w_id = :w AND d_id = :d
RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip;
-- step: payment: warehouse
UPDATE warehouse SET w_ytd = w_ytd + CAST(:amount AS DECIMAL(12,2))
WHERE w_id = :w
RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip;
-- step: order status: by id
SELECT o_ol_cnt, c_id, c_first, c_middle, c_last, CAST(c_balance * 100 AS BIGINT), o_id, CAST(o_entry_d AS VARCHAR),
  o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, CAST(ol_amount * 100 AS BIGINT), CAST(ol_delivery_d AS VARCHAR)
FROM customer
JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c_id AND o_id = (
  SELECT max(o_id) FROM orders WHERE o_w_id = :w AND o_d_id = :d AND o_c_id = :c_id
);
-- step: order status: by name
WITH named AS (
  SELECT id FROM (
    SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
    FROM customer WHERE c_w_id = :w AND c_d_id = :d AND c_last = :c_last
  ) AS ranked WHERE place = (bearers + 1) // 2
)
SELECT o_ol_cnt, c_id, c_first, c_middle, c_last, CAST(c_balance * 100 AS BIGINT), o_id, CAST(o_entry_d AS VARCHAR),
  o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, CAST(ol_amount * 100 AS BIGINT), CAST(ol_delivery_d AS VARCHAR)
FROM customer
JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
WHERE c_w_id = :w AND c_d_id = :d AND c_id = (SELECT id FROM named) AND o_id = (
  SELECT max(o_id) FROM orders WHERE o_w_id = :w AND o_d_id = :d AND o_c_id = (SELECT id FROM named)
);
-- step: delivery: oldest
DELETE FROM new_order
WHERE no_w_id = :w AND no_d_id = :d
  AND no_o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = :w AND no_d_id = :d)
RETURNING no_o_id;
-- step: delivery: order
UPDATE orders SET o_carrier_id = :carrier
WHERE o_w_id = :w AND o_d_id = :d AND o_id = :o_id
RETURNING o_c_id;
-- step: delivery: lines
UPDATE order_line SET ol_delivery_d = CAST(:now AS TIMESTAMP) WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o_id;
SELECT CAST(sum(ol_amount) * 100 AS BIGINT) FROM order_line
WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id = :o_id;
-- step: delivery: customer
UPDATE customer SET c_balance = c_balance + CAST(:total AS DECIMAL(12,2)), c_delivery_cnt = c_delivery_cnt + 1
WHERE c_w_id = :w AND c_d_id = :d AND c_id = :c_id;
-- step: stock level: count
SELECT count(DISTINCT s_i_id)
FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
WHERE ol_w_id = :w AND ol_d_id = :d
  AND ol_o_id BETWEEN (SELECT d_next_o_id - 20 FROM district WHERE d_w_id = :w AND d_id = :d)
    AND (SELECT d_next_o_id - 1 FROM district WHERE d_w_id = :w AND d_id = :d)
  AND s_quantity < :threshold;
