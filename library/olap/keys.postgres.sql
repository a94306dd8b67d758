-- Indexes on keys and foreign keys alone, as the specification allows.
-- step: primary key of region
ALTER TABLE region ADD PRIMARY KEY (r_regionkey);
-- step: primary key of nation
ALTER TABLE nation ADD PRIMARY KEY (n_nationkey);
-- step: primary key of supplier
ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);
-- step: primary key of part
ALTER TABLE part ADD PRIMARY KEY (p_partkey);
-- step: primary key of partsupp
ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey);
-- step: primary key of customer
ALTER TABLE customer ADD PRIMARY KEY (c_custkey);
-- step: primary key of orders
ALTER TABLE orders ADD PRIMARY KEY (o_orderkey);
-- step: primary key of lineitem
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber);
-- step: index of line items by part
CREATE INDEX lineitem_part ON lineitem (l_partkey, l_suppkey);
-- step: index of orders by customer
CREATE INDEX orders_customer ON orders (o_custkey);
-- step: index of parts' suppliers by supplier
CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey);
