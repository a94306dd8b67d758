-- The customer comes by number, or with null for it by last name. Returns o_ol_cnt of the last order, the lines that
-- were found of it, and what else the user is shown.
-- step: create
CREATE OR REPLACE FUNCTION {schema}.dbdyno_order_status(
  p_w integer, p_d integer, p_c_id integer, p_c_last text,
  OUT ol_cnt_out integer, OUT lines_out bigint, OUT shown_out text
) LANGUAGE plpgsql STABLE AS $body$
DECLARE
  who integer := p_c_id;
  of_customer record;
  of_order record;
  lines_shown text;
BEGIN
  IF who IS NULL THEN
    SELECT id INTO STRICT who FROM (
      SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
      FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_c_last
    ) AS named WHERE place = (bearers + 1) / 2;
  END IF;
  SELECT c_id, c_first, c_middle, c_last, c_balance INTO STRICT of_customer
  FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = who;
  SELECT o_id, o_entry_d, o_carrier_id, o_ol_cnt INTO STRICT of_order
  FROM orders WHERE o_w_id = p_w AND o_d_id = p_d AND o_c_id = who ORDER BY o_id DESC LIMIT 1;
  SELECT count(*), string_agg(concat_ws(' ', ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d), ' ')
  INTO lines_out, lines_shown
  FROM order_line WHERE ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = of_order.o_id;
  ol_cnt_out := of_order.o_ol_cnt;
  shown_out := concat_ws(' ', of_customer, of_order, lines_shown);
END $body$
-- step: drop
DROP FUNCTION IF EXISTS {schema}.dbdyno_order_status
-- step: call
SELECT * FROM dbdyno_order_status(:w, :d, :c_id, :c_last)
