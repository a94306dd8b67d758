-- Returns how many items of the district's last 20 orders are below the threshold.
-- step: create
CREATE OR REPLACE FUNCTION {schema}.dbdyno_stock_level(p_w integer, p_d integer, p_threshold integer, OUT low_out bigint)
LANGUAGE plpgsql STABLE AS $body$
DECLARE
  next_order integer;
BEGIN
  SELECT d_next_o_id INTO STRICT next_order FROM district WHERE d_w_id = p_w AND d_id = p_d;
  SELECT count(DISTINCT s_i_id) INTO low_out
  FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
  WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id BETWEEN next_order - 20 AND next_order - 1
    AND s_quantity < p_threshold;
END $body$
-- step: drop
DROP FUNCTION IF EXISTS {schema}.dbdyno_stock_level
-- step: call
SELECT dbdyno_stock_level(:w, :d, :threshold)
