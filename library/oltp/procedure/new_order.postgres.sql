-- One call is one transaction. The lines come as lists "[1,2,3]", in the order in which their stock is locked; an
-- item that there is not is the last one. Returns o_id (0 when it was rolled back), the total in cents, and what
-- else the user is shown.
-- step: create
CREATE OR REPLACE PROCEDURE {schema}.dbdyno_new_order(
  p_w integer, p_d integer, p_c_id integer, p_items text, p_supply_ws text, p_quantities text, p_now timestamp,
  INOUT o_id_out integer, INOUT total_cents_out bigint, INOUT shown_out text
) LANGUAGE plpgsql AS $body$
DECLARE
  items integer[] := translate(p_items, '[]', '{}');
  supply_ws integer[] := translate(p_supply_ws, '[]', '{}');
  quantities smallint[] := translate(p_quantities, '[]', '{}');
  amounts numeric[] := '{}';
  dist_infos text[] := '{}';
  lines_in smallint := cardinality(items);
  lines_valid integer := 0;
  customer_tax_of record;
  line record;
  district_of record;
BEGIN
  SELECT w_tax, c_discount, c_last, c_credit INTO STRICT customer_tax_of
  FROM warehouse JOIN customer ON c_w_id = w_id
  WHERE w_id = p_w AND c_d_id = p_d AND c_id = p_c_id;
  -- All lines at once. The join follows the list, and so the order in which stock is locked.
  WITH changed AS (
    UPDATE stock
    SET s_quantity = s_quantity - quantity + CASE WHEN s_quantity >= quantity + 10 THEN 0 ELSE 91 END,
      s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1,
      s_remote_cnt = s_remote_cnt + CASE WHEN s_w_id = p_w THEN 0 ELSE 1 END
    FROM unnest(items, supply_ws, quantities) WITH ORDINALITY AS one (item_id, supply_w, quantity, place)
      JOIN item ON i_id = item_id
    WHERE s_w_id = supply_w AND s_i_id = item_id
    RETURNING place, i_price * quantity AS amount, i_price, i_name, s_quantity,
      CASE p_d
        WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
        WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
        WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS dist_info,
      CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END AS brand
  )
  SELECT count(*), array_agg(amount ORDER BY place), array_agg(dist_info ORDER BY place),
    string_agg(concat_ws(' ', i_name, s_quantity, brand, i_price, amount), ' ' ORDER BY place)
  INTO lines_valid, amounts, dist_infos, shown_out FROM changed;
  -- An item that there is not, or one that stands in two lines of the same stock, which one statement changes once
  -- only: again, line by line.
  IF lines_valid < lines_in THEN
    ROLLBACK;
    amounts := '{}';
    dist_infos := '{}';
    shown_out := NULL;
    lines_valid := 0;
    FOR number IN 1..lines_in LOOP
      UPDATE stock
      SET s_quantity = s_quantity - quantities[number]
          + CASE WHEN s_quantity >= quantities[number] + 10 THEN 0 ELSE 91 END,
        s_ytd = s_ytd + quantities[number], s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + CASE WHEN s_w_id = p_w THEN 0 ELSE 1 END
      FROM item
      WHERE i_id = items[number] AND s_w_id = supply_ws[number] AND s_i_id = i_id
      RETURNING i_price, i_name, s_quantity,
        CASE p_d
          WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
          WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
          WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS dist_info,
        CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END AS brand
      INTO line;
      EXIT WHEN NOT FOUND;
      lines_valid := number;
      amounts[number] := line.i_price * quantities[number];
      dist_infos[number] := line.dist_info;
      shown_out := concat_ws(' ', shown_out, line.i_name, line.s_quantity, line.brand, line.i_price, amounts[number]);
    END LOOP;
  END IF;
  UPDATE district SET d_next_o_id = d_next_o_id + 1
  WHERE d_w_id = p_w AND d_id = p_d
  RETURNING d_next_o_id - 1 AS number, d_tax INTO STRICT district_of;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
  VALUES (district_of.number, p_d, p_w, p_c_id, p_now, NULL, lines_in,
    CASE WHEN p_w = ALL (supply_ws) THEN 1 ELSE 0 END);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (district_of.number, p_d, p_w);
  INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
    ol_quantity, ol_amount, ol_dist_info)
  SELECT district_of.number, p_d, p_w, place, item, supply_w, NULL, quantity, amount, dist_info
  FROM unnest(items[1:lines_valid], supply_ws[1:lines_valid], quantities[1:lines_valid], amounts, dist_infos)
    WITH ORDINALITY AS one (item, supply_w, quantity, amount, dist_info, place);
  IF lines_valid < lines_in THEN
    ROLLBACK;
    o_id_out := 0;
    total_cents_out := 0;
    shown_out := 'item number is not valid';
    RETURN;
  END IF;
  o_id_out := district_of.number;
  SELECT round(100 * sum(amount) * (1 - customer_tax_of.c_discount)
    * (1 + customer_tax_of.w_tax + district_of.d_tax)) INTO total_cents_out FROM unnest(amounts) AS amount;
  shown_out := concat_ws(' ', customer_tax_of.c_last, customer_tax_of.c_credit, shown_out);
END $body$
-- step: drop
DROP PROCEDURE IF EXISTS {schema}.dbdyno_new_order
-- step: call
CALL dbdyno_new_order(:w, :d, :c_id, :items, :supply_ws, :quantities, :now, NULL, NULL, NULL)
