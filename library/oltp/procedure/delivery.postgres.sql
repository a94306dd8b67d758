-- One call is one transaction. Returns the order that was delivered of each district, separated by commas, with 0
-- where there was none.
-- step: create
CREATE OR REPLACE FUNCTION {schema}.dbdyno_delivery(p_w integer, p_carrier integer, p_now timestamp, OUT orders_out text)
LANGUAGE plpgsql AS $body$
DECLARE
  number integer;
  customer_id integer;
  total numeric;
BEGIN
  FOR district_id IN 1..10 LOOP
    DELETE FROM new_order
    WHERE no_w_id = p_w AND no_d_id = district_id AND no_o_id = (
      SELECT no_o_id FROM new_order WHERE no_w_id = p_w AND no_d_id = district_id
      ORDER BY no_o_id LIMIT 1 FOR UPDATE
    )
    RETURNING no_o_id INTO number;
    IF NOT FOUND THEN
      orders_out := concat_ws(',', orders_out, 0);
      CONTINUE;
    END IF;
    UPDATE orders SET o_carrier_id = p_carrier
    WHERE o_w_id = p_w AND o_d_id = district_id AND o_id = number
    RETURNING o_c_id INTO STRICT customer_id;
    WITH stamped AS (
      UPDATE order_line SET ol_delivery_d = p_now
      WHERE ol_w_id = p_w AND ol_d_id = district_id AND ol_o_id = number
      RETURNING ol_amount
    )
    SELECT sum(ol_amount) INTO total FROM stamped;
    UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
    WHERE c_w_id = p_w AND c_d_id = district_id AND c_id = customer_id;
    orders_out := concat_ws(',', orders_out, number);
  END LOOP;
END $body$
-- step: drop
DROP FUNCTION IF EXISTS {schema}.dbdyno_delivery
-- step: call
SELECT dbdyno_delivery(:w, :carrier, :now)
