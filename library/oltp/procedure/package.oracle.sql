-- The five procedures are one package, so that they are compiled, installed and removed together.
-- step: create
CREATE OR REPLACE PACKAGE {schema}.dbdyno_order_entry AS
  TYPE numbers IS TABLE OF NUMBER INDEX BY PLS_INTEGER;
  TYPE texts IS TABLE OF VARCHAR2(24) INDEX BY PLS_INTEGER;
  FUNCTION split(list VARCHAR2) RETURN numbers;
  FUNCTION customer_by_name(p_w NUMBER, p_d NUMBER, p_c_last VARCHAR2) RETURN NUMBER;
  PROCEDURE new_order(
    p_w NUMBER, p_d NUMBER, p_c_id NUMBER, p_items VARCHAR2, p_supply_ws VARCHAR2, p_quantities VARCHAR2,
    p_now TIMESTAMP, o_id_out OUT NUMBER, total_cents_out OUT NUMBER, shown_out OUT VARCHAR2
  );
  PROCEDURE payment(
    p_w NUMBER, p_d NUMBER, p_c_w NUMBER, p_c_d NUMBER, p_c_id NUMBER, p_c_last VARCHAR2, p_amount NUMBER,
    p_mark VARCHAR2, p_now TIMESTAMP, c_id_out OUT NUMBER, balance_cents_out OUT NUMBER, shown_out OUT VARCHAR2
  );
  PROCEDURE order_status(
    p_w NUMBER, p_d NUMBER, p_c_id NUMBER, p_c_last VARCHAR2,
    ol_cnt_out OUT NUMBER, lines_out OUT NUMBER, shown_out OUT VARCHAR2
  );
  PROCEDURE delivery(p_w NUMBER, p_carrier NUMBER, p_now TIMESTAMP, orders_out OUT VARCHAR2);
  PROCEDURE stock_level(p_w NUMBER, p_d NUMBER, p_threshold NUMBER, low_out OUT NUMBER);
END;
/
CREATE OR REPLACE PACKAGE BODY {schema}.dbdyno_order_entry AS
  -- Reads a list "[1,2,3]".
  FUNCTION split(list VARCHAR2) RETURN numbers AS
    found numbers;
    count_found PLS_INTEGER := 0;
    first_digit PLS_INTEGER := 2;
    separator PLS_INTEGER;
  BEGIN
    WHILE first_digit < LENGTH(list) LOOP
      separator := INSTR(list, ',', first_digit);
      IF separator = 0 THEN
        separator := LENGTH(list);
      END IF;
      count_found := count_found + 1;
      found(count_found) := TO_NUMBER(SUBSTR(list, first_digit, separator - first_digit));
      first_digit := separator + 1;
    END LOOP;
    RETURN found;
  END;

  -- The middle one of the customers with a last name, by first name.
  FUNCTION customer_by_name(p_w NUMBER, p_d NUMBER, p_c_last VARCHAR2) RETURN NUMBER AS
    who NUMBER;
  BEGIN
    SELECT id INTO who FROM (
      SELECT c_id AS id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS bearers
      FROM customer WHERE c_w_id = p_w AND c_d_id = p_d AND c_last = p_c_last
    ) named WHERE place = TRUNC((bearers + 1) / 2);
    RETURN who;
  END;

  -- The lines come in the order in which their stock is locked; an item that there is not is the last one. Returns o_id
  -- (0 when it was rolled back), the total in cents, and what else the user is shown.
  PROCEDURE new_order(
    p_w NUMBER, p_d NUMBER, p_c_id NUMBER, p_items VARCHAR2, p_supply_ws VARCHAR2, p_quantities VARCHAR2,
    p_now TIMESTAMP, o_id_out OUT NUMBER, total_cents_out OUT NUMBER, shown_out OUT VARCHAR2
  ) AS
    items numbers;
    supply_ws numbers;
    quantities numbers;
    amounts numbers;
    dist_infos texts;
    lines_in PLS_INTEGER;
    lines_valid PLS_INTEGER := 0;
    all_local NUMBER := 1;
    item_id NUMBER;
    supply_w NUMBER;
    quantity NUMBER;
    tax_w NUMBER;
    tax_d NUMBER;
    discount NUMBER;
    price NUMBER;
    amount NUMBER;
    total NUMBER := 0;
    order_id NUMBER;
    stock_left NUMBER;
    dist_info VARCHAR2(24);
    item_name VARCHAR2(24);
    item_data VARCHAR2(50);
    stock_data VARCHAR2(50);
    brand VARCHAR2(1);
    shown VARCHAR2(2000);
  BEGIN
    items := split(p_items);
    supply_ws := split(p_supply_ws);
    quantities := split(p_quantities);
    lines_in := items.COUNT;
    SELECT w_tax, c_discount, c_last || ' ' || c_credit INTO tax_w, discount, shown
    FROM warehouse JOIN customer ON c_w_id = w_id
    WHERE w_id = p_w AND c_d_id = p_d AND c_id = p_c_id;
    BEGIN
      FOR k IN 1..lines_in LOOP
        item_id := items(k);
        supply_w := supply_ws(k);
        quantity := quantities(k);
        UPDATE stock
        SET s_quantity = s_quantity - quantity + CASE WHEN s_quantity >= quantity + 10 THEN 0 ELSE 91 END,
          s_ytd = s_ytd + quantity, s_order_cnt = s_order_cnt + 1,
          s_remote_cnt = s_remote_cnt + CASE WHEN s_w_id = p_w THEN 0 ELSE 1 END
        WHERE s_w_id = supply_w AND s_i_id = item_id
        RETURNING s_quantity, s_data,
          CASE p_d
            WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
            WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        INTO stock_left, stock_data, dist_info;
        EXIT WHEN SQL%ROWCOUNT = 0;
        SELECT i_price, i_name, i_data INTO price, item_name, item_data FROM item WHERE i_id = item_id;
        IF item_data LIKE '%ORIGINAL%' AND stock_data LIKE '%ORIGINAL%' THEN
          brand := 'B';
        ELSE
          brand := 'G';
        END IF;
        IF supply_w <> p_w THEN
          all_local := 0;
        END IF;
        lines_valid := k;
        amount := price * quantity;
        total := total + amount;
        amounts(k) := amount;
        dist_infos(k) := dist_info;
        shown := shown || ' ' || item_name || ' ' || stock_left || ' ' || brand || ' ' || price || ' ' || amount;
      END LOOP;
      UPDATE district SET d_next_o_id = d_next_o_id + 1
      WHERE d_w_id = p_w AND d_id = p_d
      RETURNING d_next_o_id - 1, d_tax INTO order_id, tax_d;
      INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
      VALUES (order_id, p_d, p_w, p_c_id, p_now, NULL, lines_in, all_local);
      INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (order_id, p_d, p_w);
      FOR k IN 1..lines_valid LOOP
        item_id := items(k);
        supply_w := supply_ws(k);
        quantity := quantities(k);
        amount := amounts(k);
        dist_info := dist_infos(k);
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d,
          ol_quantity, ol_amount, ol_dist_info)
        VALUES (order_id, p_d, p_w, k, item_id, supply_w, NULL, quantity, amount, dist_info);
      END LOOP;
      IF lines_valid < lines_in THEN
        RAISE NO_DATA_FOUND;
      END IF;
      o_id_out := order_id;
      total_cents_out := ROUND(100 * total * (1 - discount) * (1 + tax_w + tax_d));
      shown_out := shown;
      COMMIT;
    EXCEPTION
      WHEN NO_DATA_FOUND THEN
        -- A call and not ROLLBACK, which the stand-in that tests this file does not know in a procedure.
        DBMS_TRANSACTION.ROLLBACK;
        o_id_out := 0;
        total_cents_out := 0;
        shown_out := 'item number is not valid';
    END;
  END;

  -- The customer comes by number, or with null for it by last name. Returns c_id, the balance in cents, and what else
  -- the user is shown.
  PROCEDURE payment(
    p_w NUMBER, p_d NUMBER, p_c_w NUMBER, p_c_d NUMBER, p_c_id NUMBER, p_c_last VARCHAR2, p_amount NUMBER,
    p_mark VARCHAR2, p_now TIMESTAMP, c_id_out OUT NUMBER, balance_cents_out OUT NUMBER, shown_out OUT VARCHAR2
  ) AS
    who NUMBER := p_c_id;
    balance NUMBER;
    customer_shown VARCHAR2(800);
    district_shown VARCHAR2(200);
    warehouse_shown VARCHAR2(200);
  BEGIN
    IF who IS NULL THEN
      who := customer_by_name(p_c_w, p_c_d, p_c_last);
    END IF;
    UPDATE customer
    SET c_balance = c_balance - p_amount, c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1,
      c_data = CASE c_credit
        WHEN 'BC' THEN SUBSTR(c_id || ' ' || c_d_id || ' ' || c_w_id || ' ' || p_d || ' ' || p_w || ' ' || p_amount
          || ' ' || c_data, 1, 500)
        ELSE c_data END
    WHERE c_w_id = p_c_w AND c_d_id = p_c_d AND c_id = who
    RETURNING c_balance, c_first || ' ' || c_middle || ' ' || c_last || ' ' || c_street_1 || ' ' || c_street_2 || ' '
      || c_city || ' ' || c_state || ' ' || c_zip || ' ' || c_phone || ' ' || TO_CHAR(c_since, 'YYYY-MM-DD HH24:MI:SS')
      || ' ' || c_credit || ' ' || c_credit_lim || ' ' || c_discount || ' ' || c_balance || ' '
      || CASE c_credit WHEN 'BC' THEN SUBSTR(c_data, 1, 200) END
    INTO balance, customer_shown;
    IF SQL%ROWCOUNT = 0 THEN
      RAISE NO_DATA_FOUND;
    END IF;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (who, p_c_d, p_c_w, p_d, p_w, p_now, p_amount, p_mark);
    UPDATE district SET d_ytd = d_ytd + p_amount
    WHERE d_w_id = p_w AND d_id = p_d
    RETURNING d_name || ' ' || d_street_1 || ' ' || d_street_2 || ' ' || d_city || ' ' || d_state || ' ' || d_zip
    INTO district_shown;
    UPDATE warehouse SET w_ytd = w_ytd + p_amount
    WHERE w_id = p_w
    RETURNING w_name || ' ' || w_street_1 || ' ' || w_street_2 || ' ' || w_city || ' ' || w_state || ' ' || w_zip
    INTO warehouse_shown;
    c_id_out := who;
    balance_cents_out := 100 * balance;
    shown_out := warehouse_shown || ' ' || district_shown || ' ' || customer_shown;
    COMMIT;
  END;

  -- The customer comes by number, or with null for it by last name. Returns o_ol_cnt of the last order, the lines that
  -- were found of it, and what else the user is shown: by one statement, and so all of it of one moment.
  PROCEDURE order_status(
    p_w NUMBER, p_d NUMBER, p_c_id NUMBER, p_c_last VARCHAR2,
    ol_cnt_out OUT NUMBER, lines_out OUT NUMBER, shown_out OUT VARCHAR2
  ) AS
    who NUMBER := p_c_id;
    lines_stated NUMBER;
    order_shown VARCHAR2(400);
    line_shown VARCHAR2(100);
    shown VARCHAR2(2000);
    CURSOR found_lines IS
      SELECT o_ol_cnt, c_id || ' ' || c_first || ' ' || c_middle || ' ' || c_last || ' ' || c_balance || ' ' || o_id || ' '
          || TO_CHAR(o_entry_d, 'YYYY-MM-DD HH24:MI:SS') || ' ' || o_carrier_id,
        ol_i_id || ' ' || ol_supply_w_id || ' ' || ol_quantity || ' ' || ol_amount || ' '
          || TO_CHAR(ol_delivery_d, 'YYYY-MM-DD HH24:MI:SS')
      FROM customer
      JOIN orders ON o_w_id = p_w AND o_d_id = p_d AND o_id = (
        SELECT max(latest.o_id) FROM orders latest
        WHERE latest.o_w_id = p_w AND latest.o_d_id = p_d AND latest.o_c_id = who
      )
      JOIN order_line ON ol_w_id = p_w AND ol_d_id = p_d AND ol_o_id = o_id
      WHERE c_w_id = p_w AND c_d_id = p_d AND c_id = who;
  BEGIN
    IF who IS NULL THEN
      who := customer_by_name(p_w, p_d, p_c_last);
    END IF;
    lines_out := 0;
    OPEN found_lines;
    LOOP
      FETCH found_lines INTO lines_stated, order_shown, line_shown;
      EXIT WHEN found_lines%NOTFOUND;
      ol_cnt_out := lines_stated;
      lines_out := lines_out + 1;
      shown := NVL(shown, order_shown) || ' ' || line_shown;
    END LOOP;
    CLOSE found_lines;
    IF lines_out = 0 THEN
      RAISE NO_DATA_FOUND;
    END IF;
    shown_out := shown;
  END;

  -- Returns the order that was delivered of each district, separated by commas, with 0 where there was none.
  PROCEDURE delivery(p_w NUMBER, p_carrier NUMBER, p_now TIMESTAMP, orders_out OUT VARCHAR2) AS
    order_id NUMBER;
    who NUMBER;
    total NUMBER;
    delivered VARCHAR2(200);
  BEGIN
    FOR district_id IN 1..10 LOOP
      LOOP
        SELECT min(no_o_id) INTO order_id FROM new_order WHERE no_w_id = p_w AND no_d_id = district_id;
        EXIT WHEN order_id IS NULL;
        DELETE FROM new_order WHERE no_w_id = p_w AND no_d_id = district_id AND no_o_id = order_id;
        -- Another delivery may have taken it while this one waited.
        EXIT WHEN SQL%ROWCOUNT = 1;
      END LOOP;
      IF order_id IS NOT NULL THEN
        UPDATE orders SET o_carrier_id = p_carrier
        WHERE o_w_id = p_w AND o_d_id = district_id AND o_id = order_id
        RETURNING o_c_id INTO who;
        UPDATE order_line SET ol_delivery_d = p_now
        WHERE ol_w_id = p_w AND ol_d_id = district_id AND ol_o_id = order_id;
        SELECT sum(ol_amount) INTO total FROM order_line
        WHERE ol_w_id = p_w AND ol_d_id = district_id AND ol_o_id = order_id;
        UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
        WHERE c_w_id = p_w AND c_d_id = district_id AND c_id = who;
      END IF;
      delivered := delivered || ',' || NVL(order_id, 0);
    END LOOP;
    orders_out := SUBSTR(delivered, 2);
    COMMIT;
  END;

  -- Returns how many items of the district's last 20 orders are below the threshold; of one moment.
  PROCEDURE stock_level(p_w NUMBER, p_d NUMBER, p_threshold NUMBER, low_out OUT NUMBER) AS
  BEGIN
    SELECT count(DISTINCT s_i_id) INTO low_out
    FROM district
    JOIN order_line ON ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1
    JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE d_w_id = p_w AND d_id = p_d AND s_quantity < p_threshold;
  END;
END;
/
-- step: drop
DROP PACKAGE IF EXISTS {schema}.dbdyno_order_entry
