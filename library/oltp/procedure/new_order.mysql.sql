-- One call is one transaction. The lines come as lists "[1,2,3]", in the order in which their stock is locked; an
-- item that there is not is the last one. Returns o_id (0 when it was rolled back), the total in cents, and what
-- else the user is shown. What is changed is locked by the change and read afterwards.
-- step: create
CREATE PROCEDURE {schema}.dbdyno_new_order(
  p_w INTEGER, p_d INTEGER, p_c_id INTEGER, p_items VARCHAR(200), p_supply_ws VARCHAR(200),
  p_quantities VARCHAR(200), p_now DATETIME
) MODIFIES SQL DATA
one: BEGIN
  DECLARE lines_in, lines_valid, place, item, supply_w, quantity, number, stock_left INTEGER DEFAULT 0;
  DECLARE all_local INTEGER DEFAULT 1;
  DECLARE tax_w, tax_d, discount DECIMAL(4,4) DEFAULT 0;
  DECLARE price, amount, total DECIMAL(8,2) DEFAULT 0;
  DECLARE customer_shown, item_name VARCHAR(40);
  DECLARE brand CHAR(1);
  DECLARE dist_info CHAR(24);
  -- Of every line, each in as many places.
  DECLARE amounts, dist_infos VARCHAR(400) DEFAULT '';
  DECLARE shown VARCHAR(2000) DEFAULT '';
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  DECLARE EXIT HANDLER FOR NOT FOUND BEGIN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a row that an order needs is missing';
  END;
  SET lines_in = JSON_LENGTH(p_items);
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION;
  SELECT w_tax, c_discount, CONCAT_WS(' ', c_last, c_credit) INTO tax_w, discount, customer_shown
  FROM warehouse JOIN customer ON c_w_id = w_id
  WHERE w_id = p_w AND c_d_id = p_d AND c_id = p_c_id;
  stocks: WHILE lines_valid < lines_in DO
    SET item = JSON_EXTRACT(p_items, CONCAT('$[', lines_valid, ']')),
      supply_w = JSON_EXTRACT(p_supply_ws, CONCAT('$[', lines_valid, ']')),
      quantity = JSON_EXTRACT(p_quantities, CONCAT('$[', lines_valid, ']'));
    UPDATE stock
    SET s_quantity = s_quantity - quantity + CASE WHEN s_quantity >= quantity + 10 THEN 0 ELSE 91 END,
      s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + CASE WHEN s_w_id = p_w THEN 0 ELSE 1 END
    WHERE s_w_id = supply_w AND s_i_id = item;
    IF ROW_COUNT() = 0 THEN
      LEAVE stocks;
    END IF;
    SELECT i_price, i_name, s_quantity,
      CASE p_d
        WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
        WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
        WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
      CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END
    INTO price, item_name, stock_left, dist_info, brand
    FROM stock JOIN item ON i_id = s_i_id
    WHERE s_w_id = supply_w AND s_i_id = item;
    SET lines_valid = lines_valid + 1, amount = price * quantity, total = total + amount,
      all_local = all_local AND supply_w = p_w,
      amounts = CONCAT(amounts, LPAD(amount, 8, ' ')),
      dist_infos = CONCAT(dist_infos, RPAD(dist_info, 24, ' ')),
      shown = CONCAT_WS(' ', shown, item_name, stock_left, brand, price, amount);
  END WHILE;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w AND d_id = p_d;
  SELECT d_next_o_id - 1, d_tax INTO number, tax_d FROM district WHERE d_w_id = p_w AND d_id = p_d;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
  VALUES (number, p_d, p_w, p_c_id, p_now, NULL, lines_in, all_local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (number, p_d, p_w);
  WHILE place < lines_valid DO
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
      ol_quantity, ol_amount, ol_dist_info)
    VALUES (number, p_d, p_w, place + 1, JSON_EXTRACT(p_items, CONCAT('$[', place, ']')),
      JSON_EXTRACT(p_supply_ws, CONCAT('$[', place, ']')), NULL,
      JSON_EXTRACT(p_quantities, CONCAT('$[', place, ']')), CAST(SUBSTR(amounts, 8 * place + 1, 8) AS DECIMAL(6,2)),
      SUBSTR(dist_infos, 24 * place + 1, 24));
    SET place = place + 1;
  END WHILE;
  IF lines_valid < lines_in THEN
    ROLLBACK;
    SELECT 0, 0, 'item number is not valid';
    LEAVE one;
  END IF;
  COMMIT;
  SELECT number, ROUND(100 * total * (1 - discount) * (1 + tax_w + tax_d)), CONCAT_WS(' ', customer_shown, shown);
END
-- step: drop
DROP PROCEDURE IF EXISTS {schema}.dbdyno_new_order
-- step: call
CALL dbdyno_new_order(:w, :d, :c_id, :items, :supply_ws, :quantities, :now)
