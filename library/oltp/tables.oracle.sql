-- The keys come after the rows, see keys.sql: an index is built faster than it is kept.
CREATE TABLE {schema}.warehouse (
  w_id       NUMBER(10) NOT NULL,
  w_name     VARCHAR2(10) NOT NULL,
  w_street_1 VARCHAR2(20) NOT NULL,
  w_street_2 VARCHAR2(20) NOT NULL,
  w_city     VARCHAR2(20) NOT NULL,
  w_state    CHAR(2) NOT NULL,
  w_zip      CHAR(9) NOT NULL,
  w_tax      NUMBER(4,4) NOT NULL,
  w_ytd      NUMBER(12,2) NOT NULL
);
CREATE TABLE {schema}.district (
  d_id        NUMBER(5) NOT NULL,
  d_w_id      NUMBER(10) NOT NULL,
  d_name      VARCHAR2(10) NOT NULL,
  d_street_1  VARCHAR2(20) NOT NULL,
  d_street_2  VARCHAR2(20) NOT NULL,
  d_city      VARCHAR2(20) NOT NULL,
  d_state     CHAR(2) NOT NULL,
  d_zip       CHAR(9) NOT NULL,
  d_tax       NUMBER(4,4) NOT NULL,
  d_ytd       NUMBER(12,2) NOT NULL,
  d_next_o_id NUMBER(10) NOT NULL
);
CREATE TABLE {schema}.customer (
  c_id           NUMBER(10) NOT NULL,
  c_d_id         NUMBER(5) NOT NULL,
  c_w_id         NUMBER(10) NOT NULL,
  c_first        VARCHAR2(16) NOT NULL,
  c_middle       CHAR(2) NOT NULL,
  c_last         VARCHAR2(16) NOT NULL,
  c_street_1     VARCHAR2(20) NOT NULL,
  c_street_2     VARCHAR2(20) NOT NULL,
  c_city         VARCHAR2(20) NOT NULL,
  c_state        CHAR(2) NOT NULL,
  c_zip          CHAR(9) NOT NULL,
  c_phone        CHAR(16) NOT NULL,
  c_since        TIMESTAMP NOT NULL,
  c_credit       CHAR(2) NOT NULL,
  c_credit_lim   NUMBER(12,2) NOT NULL,
  c_discount     NUMBER(4,4) NOT NULL,
  c_balance      NUMBER(12,2) NOT NULL,
  c_ytd_payment  NUMBER(12,2) NOT NULL,
  c_payment_cnt  NUMBER(10) NOT NULL,
  c_delivery_cnt NUMBER(10) NOT NULL,
  c_data         VARCHAR2(500) NOT NULL
);
CREATE TABLE {schema}.history (
  h_c_id   NUMBER(10) NOT NULL,
  h_c_d_id NUMBER(5) NOT NULL,
  h_c_w_id NUMBER(10) NOT NULL,
  h_d_id   NUMBER(5) NOT NULL,
  h_w_id   NUMBER(10) NOT NULL,
  h_date   TIMESTAMP NOT NULL,
  h_amount NUMBER(6,2) NOT NULL,
  h_data   VARCHAR2(24) NOT NULL
);
CREATE TABLE {schema}.new_order (
  no_o_id NUMBER(10) NOT NULL,
  no_d_id NUMBER(5) NOT NULL,
  no_w_id NUMBER(10) NOT NULL
);
CREATE TABLE {schema}.orders (
  o_id         NUMBER(10) NOT NULL,
  o_d_id       NUMBER(5) NOT NULL,
  o_w_id       NUMBER(10) NOT NULL,
  o_c_id       NUMBER(10) NOT NULL,
  o_entry_d    TIMESTAMP NOT NULL,
  o_carrier_id NUMBER(5),
  o_ol_cnt     NUMBER(5) NOT NULL,
  o_all_local  NUMBER(5) NOT NULL
);
CREATE TABLE {schema}.order_line (
  ol_o_id        NUMBER(10) NOT NULL,
  ol_d_id        NUMBER(5) NOT NULL,
  ol_w_id        NUMBER(10) NOT NULL,
  ol_number      NUMBER(5) NOT NULL,
  ol_i_id        NUMBER(10) NOT NULL,
  ol_supply_w_id NUMBER(10) NOT NULL,
  ol_delivery_d  TIMESTAMP,
  ol_quantity    NUMBER(5) NOT NULL,
  ol_amount      NUMBER(6,2) NOT NULL,
  ol_dist_info   CHAR(24) NOT NULL
);
CREATE TABLE {schema}.item (
  i_id    NUMBER(10) NOT NULL,
  i_im_id NUMBER(10) NOT NULL,
  i_name  VARCHAR2(24) NOT NULL,
  i_price NUMBER(5,2) NOT NULL,
  i_data  VARCHAR2(50) NOT NULL
);
CREATE TABLE {schema}.stock (
  s_i_id       NUMBER(10) NOT NULL,
  s_w_id       NUMBER(10) NOT NULL,
  s_quantity   NUMBER(5) NOT NULL,
  s_dist_01    CHAR(24) NOT NULL,
  s_dist_02    CHAR(24) NOT NULL,
  s_dist_03    CHAR(24) NOT NULL,
  s_dist_04    CHAR(24) NOT NULL,
  s_dist_05    CHAR(24) NOT NULL,
  s_dist_06    CHAR(24) NOT NULL,
  s_dist_07    CHAR(24) NOT NULL,
  s_dist_08    CHAR(24) NOT NULL,
  s_dist_09    CHAR(24) NOT NULL,
  s_dist_10    CHAR(24) NOT NULL,
  s_ytd        NUMBER(10) NOT NULL,
  s_order_cnt  NUMBER(10) NOT NULL,
  s_remote_cnt NUMBER(10) NOT NULL,
  s_data       VARCHAR2(50) NOT NULL
);
