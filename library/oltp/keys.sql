-- step: primary key of warehouse
ALTER TABLE {schema}.warehouse ADD PRIMARY KEY (w_id);
-- step: primary key of district
ALTER TABLE {schema}.district ADD PRIMARY KEY (d_w_id, d_id);
-- step: primary key of customer
ALTER TABLE {schema}.customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id);
-- step: primary key of new_order
ALTER TABLE {schema}.new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id);
-- step: primary key of orders
ALTER TABLE {schema}.orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id);
-- step: primary key of order_line
ALTER TABLE {schema}.order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);
-- step: primary key of item
ALTER TABLE {schema}.item ADD PRIMARY KEY (i_id);
-- step: primary key of stock
ALTER TABLE {schema}.stock ADD PRIMARY KEY (s_w_id, s_i_id);
-- step: index of customers by name
CREATE INDEX customer_name ON {schema}.customer (c_w_id, c_d_id, c_last, c_first, c_id);
-- step: index of orders by customer
CREATE INDEX orders_customer ON {schema}.orders (o_w_id, o_d_id, o_c_id, o_id);
