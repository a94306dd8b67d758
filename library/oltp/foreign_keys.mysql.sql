-- A table in a step: the server copies it once for all of its keys, and checks every row while it does. What it
-- adds is committed before the step can be noted as done; a step that is done again finds its keys there.
-- step: foreign key of district
ALTER TABLE {schema}.district
  ADD CONSTRAINT district_warehouse FOREIGN KEY /*M! IF NOT EXISTS */ district_warehouse (d_w_id)
    REFERENCES {schema}.warehouse (w_id);
-- step: foreign key of customer
ALTER TABLE {schema}.customer
  ADD CONSTRAINT customer_district FOREIGN KEY /*M! IF NOT EXISTS */ customer_district (c_w_id, c_d_id)
    REFERENCES {schema}.district (d_w_id, d_id);
-- step: foreign keys of history
ALTER TABLE {schema}.history
  ADD CONSTRAINT history_customer FOREIGN KEY /*M! IF NOT EXISTS */ history_customer (h_c_w_id, h_c_d_id, h_c_id)
    REFERENCES {schema}.customer (c_w_id, c_d_id, c_id),
  ADD CONSTRAINT history_district FOREIGN KEY /*M! IF NOT EXISTS */ history_district (h_w_id, h_d_id)
    REFERENCES {schema}.district (d_w_id, d_id);
-- step: foreign key of orders
ALTER TABLE {schema}.orders
  ADD CONSTRAINT orders_customer FOREIGN KEY /*M! IF NOT EXISTS */ orders_customer (o_w_id, o_d_id, o_c_id)
    REFERENCES {schema}.customer (c_w_id, c_d_id, c_id);
-- step: foreign key of new_order
ALTER TABLE {schema}.new_order
  ADD CONSTRAINT new_order_orders FOREIGN KEY /*M! IF NOT EXISTS */ new_order_orders (no_w_id, no_d_id, no_o_id)
    REFERENCES {schema}.orders (o_w_id, o_d_id, o_id);
-- step: foreign keys of stock
ALTER TABLE {schema}.stock
  ADD CONSTRAINT stock_warehouse FOREIGN KEY /*M! IF NOT EXISTS */ stock_warehouse (s_w_id)
    REFERENCES {schema}.warehouse (w_id),
  ADD CONSTRAINT stock_item FOREIGN KEY /*M! IF NOT EXISTS */ stock_item (s_i_id)
    REFERENCES {schema}.item (i_id);
-- step: foreign keys of order_line
ALTER TABLE {schema}.order_line
  ADD CONSTRAINT order_line_orders FOREIGN KEY /*M! IF NOT EXISTS */ order_line_orders (ol_w_id, ol_d_id, ol_o_id)
    REFERENCES {schema}.orders (o_w_id, o_d_id, o_id),
  ADD CONSTRAINT order_line_stock FOREIGN KEY /*M! IF NOT EXISTS */ order_line_stock (ol_supply_w_id, ol_i_id)
    REFERENCES {schema}.stock (s_w_id, s_i_id);
