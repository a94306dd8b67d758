-- One call is one transaction. The customer comes by number, or with null for it by last name. Returns c_id, the
-- balance in cents, and what else the user is shown.
-- step: create
CREATE OR REPLACE FUNCTION {schema}.dbdyno_payment(
  p_w integer, p_d integer, p_c_w integer, p_c_d integer, p_c_id integer, p_c_last text, p_amount numeric,
  p_mark text, p_now timestamp, OUT c_id_out integer, OUT balance_cents_out bigint, OUT shown_out text
) LANGUAGE plpgsql AS $body$
DECLARE
  who integer := p_c_id;
  of_customer record;
  of_district record;
  of_warehouse record;
BEGIN
  IF who IS NULL THEN
    SELECT id INTO STRICT who FROM (
      SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
      FROM customer WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_last = p_c_last
    ) AS named WHERE place = (bearers + 1) / 2;
  END IF;
  UPDATE customer
  SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1,
    c_data = CASE c_credit
      WHEN 'BC' THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, p_d, p_w, p_amount, c_data), 500)
      ELSE c_data END
  WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = who
  RETURNING c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
    c_credit, c_credit_lim, c_discount, c_balance, CASE c_credit WHEN 'BC' THEN left(c_data, 200) END AS c_data
  INTO STRICT of_customer;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
  VALUES (who, p_c_d, p_c_w, p_d, p_w, p_now, p_amount, p_mark);
  UPDATE district SET d_ytd = d_ytd + p_amount
  WHERE d_w_id = p_w AND d_id = p_d
  RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip INTO STRICT of_district;
  UPDATE warehouse SET w_ytd = w_ytd + p_amount
  WHERE w_id = p_w
  RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip INTO STRICT of_warehouse;
  c_id_out := who;
  balance_cents_out := of_customer.c_balance * 100;
  shown_out := concat_ws(' ', of_warehouse, of_district, of_customer);
END $body$
-- step: drop
DROP FUNCTION IF EXISTS {schema}.dbdyno_payment
-- step: call
SELECT * FROM dbdyno_payment(:w, :d, :c_w, :c_d, :c_id, :c_last, :amount, :mark, :now)
