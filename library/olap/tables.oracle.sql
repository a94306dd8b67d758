-- The keys come after the rows, see keys.sql: an index is built faster than it is kept. Texts are ordered by their bytes
-- where NLS_SORT is BINARY, which dbdyno's sessions set.
CREATE TABLE {schema}.region (
  r_regionkey NUMBER(10) NOT NULL,
  r_name      CHAR(25) NOT NULL,
  r_comment   VARCHAR2(152) NOT NULL
);
CREATE TABLE {schema}.nation (
  n_nationkey NUMBER(10) NOT NULL,
  n_name      CHAR(25) NOT NULL,
  n_regionkey NUMBER(10) NOT NULL,
  n_comment   VARCHAR2(152) NOT NULL
);
CREATE TABLE {schema}.supplier (
  s_suppkey   NUMBER(19) NOT NULL,
  s_name      CHAR(25) NOT NULL,
  s_address   VARCHAR2(40) NOT NULL,
  s_nationkey NUMBER(10) NOT NULL,
  s_phone     CHAR(15) NOT NULL,
  s_acctbal   NUMBER(12,2) NOT NULL,
  s_comment   VARCHAR2(101) NOT NULL
);
CREATE TABLE {schema}.part (
  p_partkey     NUMBER(19) NOT NULL,
  p_name        VARCHAR2(55) NOT NULL,
  p_mfgr        CHAR(25) NOT NULL,
  p_brand       CHAR(10) NOT NULL,
  p_type        VARCHAR2(25) NOT NULL,
  p_size        NUMBER(10) NOT NULL,
  p_container   CHAR(10) NOT NULL,
  p_retailprice NUMBER(12,2) NOT NULL,
  p_comment     VARCHAR2(23) NOT NULL
);
CREATE TABLE {schema}.partsupp (
  ps_partkey    NUMBER(19) NOT NULL,
  ps_suppkey    NUMBER(19) NOT NULL,
  ps_availqty   NUMBER(10) NOT NULL,
  ps_supplycost NUMBER(12,2) NOT NULL,
  ps_comment    VARCHAR2(199) NOT NULL
);
CREATE TABLE {schema}.customer (
  c_custkey    NUMBER(19) NOT NULL,
  c_name       VARCHAR2(25) NOT NULL,
  c_address    VARCHAR2(40) NOT NULL,
  c_nationkey  NUMBER(10) NOT NULL,
  c_phone      CHAR(15) NOT NULL,
  c_acctbal    NUMBER(12,2) NOT NULL,
  c_mktsegment CHAR(10) NOT NULL,
  c_comment    VARCHAR2(117) NOT NULL
);
CREATE TABLE {schema}.orders (
  o_orderkey      NUMBER(19) NOT NULL,
  o_custkey       NUMBER(19) NOT NULL,
  o_orderstatus   CHAR(1) NOT NULL,
  o_totalprice    NUMBER(12,2) NOT NULL,
  o_orderdate     DATE NOT NULL,
  o_orderpriority CHAR(15) NOT NULL,
  o_clerk         CHAR(15) NOT NULL,
  o_shippriority  NUMBER(10) NOT NULL,
  o_comment       VARCHAR2(79) NOT NULL
);
CREATE TABLE {schema}.lineitem (
  l_orderkey      NUMBER(19) NOT NULL,
  l_partkey       NUMBER(19) NOT NULL,
  l_suppkey       NUMBER(19) NOT NULL,
  l_linenumber    NUMBER(10) NOT NULL,
  l_quantity      NUMBER(12,2) NOT NULL,
  l_extendedprice NUMBER(12,2) NOT NULL,
  l_discount      NUMBER(12,2) NOT NULL,
  l_tax           NUMBER(12,2) NOT NULL,
  l_returnflag    CHAR(1) NOT NULL,
  l_linestatus    CHAR(1) NOT NULL,
  l_shipdate      DATE NOT NULL,
  l_commitdate    DATE NOT NULL,
  l_receiptdate   DATE NOT NULL,
  l_shipinstruct  CHAR(25) NOT NULL,
  l_shipmode      CHAR(10) NOT NULL,
  l_comment       VARCHAR2(44) NOT NULL
);
