-- Indexes on keys and foreign keys alone, as the specification allows.
-- step: primary key of region
ALTER TABLE {schema}.region ADD PRIMARY KEY (r_regionkey);
-- step: primary key of nation
ALTER TABLE {schema}.nation ADD PRIMARY KEY (n_nationkey);
-- step: primary key of supplier
ALTER TABLE {schema}.supplier ADD PRIMARY KEY (s_suppkey);
-- step: primary key of part
ALTER TABLE {schema}.part ADD PRIMARY KEY (p_partkey);
-- step: primary key of partsupp
ALTER TABLE {schema}.partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey);
-- step: primary key of customer
ALTER TABLE {schema}.customer ADD PRIMARY KEY (c_custkey);
-- step: primary key of orders
ALTER TABLE {schema}.orders ADD PRIMARY KEY (o_orderkey);
-- step: primary key of lineitem
ALTER TABLE {schema}.lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber);
-- step: index of line items by part
CREATE INDEX lineitem_part ON {schema}.lineitem (l_partkey, l_suppkey);
-- step: index of orders by customer
CREATE INDEX orders_customer ON {schema}.orders (o_custkey);
-- step: index of parts' suppliers by supplier
CREATE INDEX partsupp_supplier ON {schema}.partsupp (ps_suppkey);
