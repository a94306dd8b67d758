-- Indexes on keys and foreign keys alone, as the specification allows.
-- step: primary key of partsupp
CREATE UNIQUE INDEX partsupp_key ON partsupp (ps_partkey, ps_suppkey);
-- step: primary key of lineitem
CREATE UNIQUE INDEX lineitem_key ON lineitem (l_orderkey, l_linenumber);
-- step: index of line items by part
CREATE INDEX lineitem_part ON lineitem (l_partkey, l_suppkey);
-- step: index of orders by customer
CREATE INDEX orders_customer ON orders (o_custkey);
-- step: index of parts' suppliers by supplier
CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey);
