-- The customer comes by number, or with null for it by last name. Returns o_ol_cnt of the last order, the lines that
-- were found of it, and what else the user is shown; all of it of one moment.
-- step: create
CREATE PROCEDURE {schema}.dbdyno_order_status(p_w INTEGER, p_d INTEGER, p_c_id INTEGER, p_c_last VARCHAR(16))
READS SQL DATA
BEGIN
  DECLARE who INTEGER DEFAULT p_c_id;
  DECLARE bearers, number, lines_stated, lines_found INTEGER;
  DECLARE customer_shown, order_shown VARCHAR(200);
  DECLARE lines_shown VARCHAR(2000);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  DECLARE EXIT HANDLER FOR NOT FOUND BEGIN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a row that an order status needs is missing';
  END;
  SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
  START TRANSACTION READ ONLY;
  IF who IS NULL THEN
    SELECT count(*) INTO bearers FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_c_last;
    SET bearers = GREATEST((bearers + 1) DIV 2 - 1, 0);
    SELECT c_id INTO who FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_c_last
    ORDER BY c_first, c_id LIMIT 1 OFFSET bearers;
  END IF;
  SELECT CONCAT_WS(' ', c_id, c_first, c_middle, c_last, c_balance) INTO customer_shown
  FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = who;
  SELECT o_id, o_ol_cnt, CONCAT_WS(' ', o_id, o_entry_d, o_carrier_id) INTO number, lines_stated, order_shown
  FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = who ORDER BY o_id DESC LIMIT 1;
  SELECT count(*),
    GROUP_CONCAT(CONCAT_WS(' ', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d) SEPARATOR ' ')
  INTO lines_found, lines_shown
  FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = number;
  COMMIT;
  SELECT lines_stated, lines_found, CONCAT_WS(' ', customer_shown, order_shown, lines_shown);
END
-- step: drop
DROP PROCEDURE IF EXISTS {schema}.dbdyno_order_status
-- step: call
CALL dbdyno_order_status(:w, :d, :c_id, :c_last)
