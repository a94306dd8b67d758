-- One call is one transaction. The customer comes by number, or with null for it by last name. Returns c_id, the
-- balance in cents, and what else the user is shown. What is changed is locked by the change and read afterwards.
-- step: create
CREATE PROCEDURE {schema}.dbdyno_payment(
  p_w INTEGER, p_d INTEGER, p_c_w INTEGER, p_c_d INTEGER, p_c_id INTEGER, p_c_last VARCHAR(16),
  p_amount DECIMAL(12,2), p_mark VARCHAR(24), p_now DATETIME
) MODIFIES SQL DATA
BEGIN
  DECLARE who INTEGER DEFAULT p_c_id;
  DECLARE bearers INTEGER;
  DECLARE balance DECIMAL(12,2);
  DECLARE customer_shown, district_shown, warehouse_shown VARCHAR(800);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  DECLARE EXIT HANDLER FOR NOT FOUND BEGIN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a row that a payment needs is missing';
  END;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION;
  IF who IS NULL THEN
    SELECT count(*) INTO bearers FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_c_last;
    SET bearers = GREATEST((bearers + 1) DIV 2 - 1, 0);
    SELECT c_id INTO who FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_c_last
    ORDER BY c_first, c_id LIMIT 1 OFFSET bearers;
  END IF;
  UPDATE customer
  SET c_data = CASE c_credit
      WHEN 'BC' THEN LEFT(CONCAT_WS(' ', c_id, c_d_id, c_w_id, p_d, p_w, p_amount, c_data), 500)
      ELSE c_data END,
    c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1
  WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = who;
  SELECT c_balance, CONCAT_WS(' ', c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip,
    c_phone, c_since, c_credit, c_credit_lim, c_discount, c_balance,
    CASE c_credit WHEN 'BC' THEN LEFT(c_data, 200) END)
  INTO balance, customer_shown
  FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = who;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
  VALUES (who, p_c_d, p_c_w, p_d, p_w, p_now, p_amount, p_mark);
  UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w AND d_id = p_d;
  SELECT CONCAT_WS(' ', d_name, d_street_1, d_street_2, d_city, d_state, d_zip) INTO district_shown
  FROM district WHERE d_w_id = p_w AND d_id = p_d;
  UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w;
  SELECT CONCAT_WS(' ', w_name, w_street_1, w_street_2, w_city, w_state, w_zip) INTO warehouse_shown
  FROM warehouse WHERE w_id = p_w;
  COMMIT;
  SELECT who, ROUND(100 * balance), CONCAT_WS(' ', warehouse_shown, district_shown, customer_shown);
END
-- step: drop
DROP PROCEDURE IF EXISTS {schema}.dbdyno_payment
-- step: call
CALL dbdyno_payment(:w, :d, :c_w, :c_d, :c_id, :c_last, :amount, :mark, :now)
