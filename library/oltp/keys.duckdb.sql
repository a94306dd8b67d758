-- step: index of customers by name
CREATE INDEX customer_name ON {schema}.customer (c_w_id, c_d_id, c_last);
-- step: index of orders by customer
CREATE INDEX orders_customer ON {schema}.orders (o_w_id, o_d_id, o_c_id);
