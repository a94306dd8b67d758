-- The keys come after the rows, see keys.sql: an index is built faster than it is kept. Texts are ordered
-- by their bytes, so that the order of an answer does not depend on the database's language.
CREATE TABLE {schema}.region (
  r_regionkey INTEGER NOT NULL,
  r_name      CHAR(25) COLLATE "C" NOT NULL,
  r_comment   VARCHAR(152) COLLATE "C" NOT NULL
);
CREATE TABLE {schema}.nation (
  n_nationkey INTEGER NOT NULL,
  n_name      CHAR(25) COLLATE "C" NOT NULL,
  n_regionkey INTEGER NOT NULL,
  n_comment   VARCHAR(152) COLLATE "C" NOT NULL
);
CREATE TABLE {schema}.supplier (
  s_suppkey   BIGINT NOT NULL,
  s_name      CHAR(25) COLLATE "C" NOT NULL,
  s_address   VARCHAR(40) COLLATE "C" NOT NULL,
  s_nationkey INTEGER NOT NULL,
  s_phone     CHAR(15) COLLATE "C" NOT NULL,
  s_acctbal   NUMERIC(12,2) NOT NULL,
  s_comment   VARCHAR(101) COLLATE "C" NOT NULL
);
CREATE TABLE {schema}.part (
  p_partkey     BIGINT NOT NULL,
  p_name        VARCHAR(55) COLLATE "C" NOT NULL,
  p_mfgr        CHAR(25) COLLATE "C" NOT NULL,
  p_brand       CHAR(10) COLLATE "C" NOT NULL,
  p_type        VARCHAR(25) COLLATE "C" NOT NULL,
  p_size        INTEGER NOT NULL,
  p_container   CHAR(10) COLLATE "C" NOT NULL,
  p_retailprice NUMERIC(12,2) NOT NULL,
  p_comment     VARCHAR(23) COLLATE "C" NOT NULL
);
CREATE TABLE {schema}.partsupp (
  ps_partkey    BIGINT NOT NULL,
  ps_suppkey    BIGINT NOT NULL,
  ps_availqty   INTEGER NOT NULL,
  ps_supplycost NUMERIC(12,2) NOT NULL,
  ps_comment    VARCHAR(199) COLLATE "C" NOT NULL
);
CREATE TABLE {schema}.customer (
  c_custkey    BIGINT NOT NULL,
  c_name       VARCHAR(25) COLLATE "C" NOT NULL,
  c_address    VARCHAR(40) COLLATE "C" NOT NULL,
  c_nationkey  INTEGER NOT NULL,
  c_phone      CHAR(15) COLLATE "C" NOT NULL,
  c_acctbal    NUMERIC(12,2) NOT NULL,
  c_mktsegment CHAR(10) COLLATE "C" NOT NULL,
  c_comment    VARCHAR(117) COLLATE "C" NOT NULL
);
CREATE TABLE {schema}.orders (
  o_orderkey      BIGINT NOT NULL,
  o_custkey       BIGINT NOT NULL,
  o_orderstatus   CHAR(1) COLLATE "C" NOT NULL,
  o_totalprice    NUMERIC(12,2) NOT NULL,
  o_orderdate     DATE NOT NULL,
  o_orderpriority CHAR(15) COLLATE "C" NOT NULL,
  o_clerk         CHAR(15) COLLATE "C" NOT NULL,
  o_shippriority  INTEGER NOT NULL,
  o_comment       VARCHAR(79) COLLATE "C" NOT NULL
);
CREATE TABLE {schema}.lineitem (
  l_orderkey      BIGINT NOT NULL,
  l_partkey       BIGINT NOT NULL,
  l_suppkey       BIGINT NOT NULL,
  l_linenumber    INTEGER NOT NULL,
  l_quantity      NUMERIC(12,2) NOT NULL,
  l_extendedprice NUMERIC(12,2) NOT NULL,
  l_discount      NUMERIC(12,2) NOT NULL,
  l_tax           NUMERIC(12,2) NOT NULL,
  l_returnflag    CHAR(1) COLLATE "C" NOT NULL,
  l_linestatus    CHAR(1) COLLATE "C" NOT NULL,
  l_shipdate      DATE NOT NULL,
  l_commitdate    DATE NOT NULL,
  l_receiptdate   DATE NOT NULL,
  l_shipinstruct  CHAR(25) COLLATE "C" NOT NULL,
  l_shipmode      CHAR(10) COLLATE "C" NOT NULL,
  l_comment       VARCHAR(44) COLLATE "C" NOT NULL
);
