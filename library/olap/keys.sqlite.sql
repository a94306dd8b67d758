-- Indexes on keys and foreign keys alone, as the specification allows.
-- step: primary key of partsupp
CREATE UNIQUE INDEX {schema}.partsupp_key ON partsupp (ps_partkey, ps_suppkey);
-- step: primary key of lineitem
CREATE UNIQUE INDEX {schema}.lineitem_key ON lineitem (l_orderkey, l_linenumber);
-- step: index of line items by part
CREATE INDEX {schema}.lineitem_part ON lineitem (l_partkey, l_suppkey);
-- step: index of orders by customer
CREATE INDEX {schema}.orders_customer ON orders (o_custkey);
-- step: index of parts' suppliers by supplier
CREATE INDEX {schema}.partsupp_supplier ON partsupp (ps_suppkey);
