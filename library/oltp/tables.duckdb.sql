-- Order entry is worked on here by one user, so that backups have transactions to keep: see transactions.duckdb.sql.
CREATE TABLE {schema}.warehouse (
  w_id       INTEGER NOT NULL,
  w_name     VARCHAR NOT NULL,
  w_street_1 VARCHAR NOT NULL,
  w_street_2 VARCHAR NOT NULL,
  w_city     VARCHAR NOT NULL,
  w_state    VARCHAR NOT NULL,
  w_zip      VARCHAR NOT NULL,
  w_tax      DECIMAL(4,4) NOT NULL,
  w_ytd      DECIMAL(12,2) NOT NULL,
  PRIMARY KEY (w_id)
);
CREATE TABLE {schema}.district (
  d_id        INTEGER NOT NULL,
  d_w_id      INTEGER NOT NULL,
  d_name      VARCHAR NOT NULL,
  d_street_1  VARCHAR NOT NULL,
  d_street_2  VARCHAR NOT NULL,
  d_city      VARCHAR NOT NULL,
  d_state     VARCHAR NOT NULL,
  d_zip       VARCHAR NOT NULL,
  d_tax       DECIMAL(4,4) NOT NULL,
  d_ytd       DECIMAL(12,2) NOT NULL,
  d_next_o_id INTEGER NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
);
CREATE TABLE {schema}.customer (
  c_id           INTEGER NOT NULL,
  c_d_id         INTEGER NOT NULL,
  c_w_id         INTEGER NOT NULL,
  c_first        VARCHAR NOT NULL,
  c_middle       VARCHAR NOT NULL,
  c_last         VARCHAR NOT NULL,
  c_street_1     VARCHAR NOT NULL,
  c_street_2     VARCHAR NOT NULL,
  c_city         VARCHAR NOT NULL,
  c_state        VARCHAR NOT NULL,
  c_zip          VARCHAR NOT NULL,
  c_phone        VARCHAR NOT NULL,
  c_since        TIMESTAMP NOT NULL,
  c_credit       VARCHAR NOT NULL,
  c_credit_lim   DECIMAL(12,2) NOT NULL,
  c_discount     DECIMAL(4,4) NOT NULL,
  c_balance      DECIMAL(12,2) NOT NULL,
  c_ytd_payment  DECIMAL(12,2) NOT NULL,
  c_payment_cnt  INTEGER NOT NULL,
  c_delivery_cnt INTEGER NOT NULL,
  c_data         VARCHAR NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
);
CREATE TABLE {schema}.history (
  h_c_id   INTEGER NOT NULL,
  h_c_d_id INTEGER NOT NULL,
  h_c_w_id INTEGER NOT NULL,
  h_d_id   INTEGER NOT NULL,
  h_w_id   INTEGER NOT NULL,
  h_date   TIMESTAMP NOT NULL,
  h_amount DECIMAL(6,2) NOT NULL,
  h_data   VARCHAR NOT NULL
);
CREATE TABLE {schema}.new_order (
  no_o_id INTEGER NOT NULL,
  no_d_id INTEGER NOT NULL,
  no_w_id INTEGER NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
);
CREATE TABLE {schema}.orders (
  o_id         INTEGER NOT NULL,
  o_d_id       INTEGER NOT NULL,
  o_w_id       INTEGER NOT NULL,
  o_c_id       INTEGER NOT NULL,
  o_entry_d    TIMESTAMP NOT NULL,
  o_carrier_id INTEGER,
  o_ol_cnt     INTEGER NOT NULL,
  o_all_local  INTEGER NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
);
CREATE TABLE {schema}.order_line (
  ol_o_id        INTEGER NOT NULL,
  ol_d_id        INTEGER NOT NULL,
  ol_w_id        INTEGER NOT NULL,
  ol_number      INTEGER NOT NULL,
  ol_i_id        INTEGER NOT NULL,
  ol_supply_w_id INTEGER NOT NULL,
  ol_delivery_d  TIMESTAMP,
  ol_quantity    INTEGER NOT NULL,
  ol_amount      DECIMAL(6,2) NOT NULL,
  ol_dist_info   VARCHAR NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
);
CREATE TABLE {schema}.item (
  i_id    INTEGER NOT NULL,
  i_im_id INTEGER NOT NULL,
  i_name  VARCHAR NOT NULL,
  i_price DECIMAL(5,2) NOT NULL,
  i_data  VARCHAR NOT NULL,
  PRIMARY KEY (i_id)
);
CREATE TABLE {schema}.stock (
  s_i_id       INTEGER NOT NULL,
  s_w_id       INTEGER NOT NULL,
  s_quantity   INTEGER NOT NULL,
  s_dist_01    VARCHAR NOT NULL,
  s_dist_02    VARCHAR NOT NULL,
  s_dist_03    VARCHAR NOT NULL,
  s_dist_04    VARCHAR NOT NULL,
  s_dist_05    VARCHAR NOT NULL,
  s_dist_06    VARCHAR NOT NULL,
  s_dist_07    VARCHAR NOT NULL,
  s_dist_08    VARCHAR NOT NULL,
  s_dist_09    VARCHAR NOT NULL,
  s_dist_10    VARCHAR NOT NULL,
  s_ytd        INTEGER NOT NULL,
  s_order_cnt  INTEGER NOT NULL,
  s_remote_cnt INTEGER NOT NULL,
  s_data       VARCHAR NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
);
