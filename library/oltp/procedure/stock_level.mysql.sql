-- Returns how many items of the district's last 20 orders are below the threshold; of one moment.
-- step: create
CREATE PROCEDURE {schema}.dbdyno_stock_level(p_w INTEGER, p_d INTEGER, p_threshold INTEGER) READS SQL DATA
BEGIN
  DECLARE next_order, low INTEGER;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  DECLARE EXIT HANDLER FOR NOT FOUND BEGIN
    ROLLBACK;
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the district of a stock level is missing';
  END;
  SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
  START TRANSACTION READ ONLY;
  SELECT d_next_o_id INTO next_order FROM district WHERE d_w_id = p_w AND d_id = p_d;
  SELECT count(DISTINCT s_i_id) INTO low
  FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
  WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id BETWEEN next_order - 20 AND next_order - 1
    AND s_quantity < p_threshold;
  COMMIT;
  SELECT low;
END
-- step: drop
DROP PROCEDURE IF EXISTS {schema}.dbdyno_stock_level
-- step: call
CALL dbdyno_stock_level(:w, :d, :threshold)
