-- One call is one transaction. Returns the order that was delivered of each district, separated by commas, with 0
-- where there was none. Who is second at a district waits for the first, and then sees the next order.
-- step: create
CREATE PROCEDURE {schema}.dbdyno_delivery(p_w INTEGER, p_carrier INTEGER, p_now DATETIME) MODIFIES SQL DATA
BEGIN
  DECLARE district_id, number, who INTEGER DEFAULT 0;
  DECLARE total DECIMAL(12,2);
  DECLARE orders_done VARCHAR(200);
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  DECLARE EXIT HANDLER FOR NOT FOUND BEGIN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'a row that a delivery needs is missing';
  END;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION;
  WHILE district_id < 10 DO
    SET district_id = district_id + 1;
    oldest: BEGIN
      DECLARE EXIT HANDLER FOR NOT FOUND SET number = 0;
      SELECT no_o_id INTO number FROM new_order WHERE no_w_id = p_w AND no_d_id = district_id
      ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    END;
    IF number > 0 THEN
      DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = district_id AND no_o_id = number;
      UPDATE orders SET o_carrier_id = p_carrier
      WHERE o_w_id = p_w AND o_d_id = district_id AND o_id = number;
      SELECT o_c_id INTO who FROM orders WHERE o_w_id = p_w AND o_d_id = district_id AND o_id = number;
      UPDATE order_line SET ol_delivery_d = p_now
      WHERE ol_w_id = p_w AND ol_d_id = district_id AND ol_o_id = number;
      SELECT sum(ol_amount) INTO total FROM order_line
      WHERE ol_w_id = p_w AND ol_d_id = district_id AND ol_o_id = number;
      UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = p_w AND c_d_id = district_id AND c_id = who;
    END IF;
    SET orders_done = CONCAT_WS(',', orders_done, number);
  END WHILE;
  COMMIT;
  SELECT orders_done;
END
-- step: drop
DROP PROCEDURE IF EXISTS {schema}.dbdyno_delivery
-- step: call
CALL dbdyno_delivery(:w, :carrier, :now)
