-- step: foreign key of district to warehouse
ALTER TABLE {schema}.district ADD CONSTRAINT district_warehouse
  FOREIGN KEY (d_w_id) REFERENCES {schema}.warehouse (w_id);
-- step: foreign key of customer to district
ALTER TABLE {schema}.customer ADD CONSTRAINT customer_district
  FOREIGN KEY (c_w_id, c_d_id) REFERENCES {schema}.district (d_w_id, d_id);
-- step: foreign key of history to customer
ALTER TABLE {schema}.history ADD CONSTRAINT history_customer
  FOREIGN KEY (h_c_w_id, h_c_d_id, h_c_id) REFERENCES {schema}.customer (c_w_id, c_d_id, c_id);
-- step: foreign key of history to district
ALTER TABLE {schema}.history ADD CONSTRAINT history_district
  FOREIGN KEY (h_w_id, h_d_id) REFERENCES {schema}.district (d_w_id, d_id);
-- step: foreign key of orders to customer
ALTER TABLE {schema}.orders ADD CONSTRAINT orders_customer
  FOREIGN KEY (o_w_id, o_d_id, o_c_id) REFERENCES {schema}.customer (c_w_id, c_d_id, c_id);
-- step: foreign key of new_order to orders
ALTER TABLE {schema}.new_order ADD CONSTRAINT new_order_orders
  FOREIGN KEY (no_w_id, no_d_id, no_o_id) REFERENCES {schema}.orders (o_w_id, o_d_id, o_id);
-- step: foreign key of order_line to orders
ALTER TABLE {schema}.order_line ADD CONSTRAINT order_line_orders
  FOREIGN KEY (ol_w_id, ol_d_id, ol_o_id) REFERENCES {schema}.orders (o_w_id, o_d_id, o_id);
-- step: foreign key of stock to warehouse
ALTER TABLE {schema}.stock ADD CONSTRAINT stock_warehouse
  FOREIGN KEY (s_w_id) REFERENCES {schema}.warehouse (w_id);
-- step: foreign key of stock to item
ALTER TABLE {schema}.stock ADD CONSTRAINT stock_item
  FOREIGN KEY (s_i_id) REFERENCES {schema}.item (i_id);
-- step: foreign key of order_line to stock
ALTER TABLE {schema}.order_line ADD CONSTRAINT order_line_stock
  FOREIGN KEY (ol_supply_w_id, ol_i_id) REFERENCES {schema}.stock (s_w_id, s_i_id);
