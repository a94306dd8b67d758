-- step: index of customers by name
CREATE INDEX {schema}.customer_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);
-- step: index of orders by customer
CREATE INDEX {schema}.orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
