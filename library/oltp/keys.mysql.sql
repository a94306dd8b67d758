-- The primary keys are in the tables. What a step adds is committed before it can be noted as done; a step that
-- is done again finds it there.
-- step: index of customers by name
CREATE INDEX /*M! IF NOT EXISTS */ customer_name ON {schema}.customer (c_w_id, c_d_id, c_last, c_first, c_id);
-- step: index of orders by customer
CREATE INDEX /*M! IF NOT EXISTS */ orders_customer ON {schema}.orders (o_w_id, o_d_id, o_c_id, o_id);
