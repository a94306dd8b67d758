-- Indexes on keys and foreign keys alone, as the specification allows. The primary keys are in the tables.
-- step: index of line items by part
CREATE INDEX lineitem_part ON {schema}.lineitem (l_partkey, l_suppkey);
-- step: index of orders by customer
CREATE INDEX orders_customer ON {schema}.orders (o_custkey);
-- step: index of parts' suppliers by supplier
CREATE INDEX partsupp_supplier ON {schema}.partsupp (ps_suppkey);
