-- SQLite has no decimals. Amounts are REAL, so that they read as anybody's SQL expects them (10.5 is 10.50),
-- and exact all the same: every one is the floating-point number nearest to a decimal of two places
-- (rates: four), which whoever changes it keeps by rounding. In sums they are counted in whole cents.
-- Rows lie in the order of their keys, so that a key is found by one descent; the history has none.
CREATE TABLE {schema}.warehouse (
  w_id       INTEGER NOT NULL,
  w_name     TEXT NOT NULL,
  w_street_1 TEXT NOT NULL,
  w_street_2 TEXT NOT NULL,
  w_city     TEXT NOT NULL,
  w_state    TEXT NOT NULL,
  w_zip      TEXT NOT NULL,
  w_tax      REAL NOT NULL,
  w_ytd      REAL NOT NULL,
  PRIMARY KEY (w_id)
) WITHOUT ROWID;
CREATE TABLE {schema}.district (
  d_id        INTEGER NOT NULL,
  d_w_id      INTEGER NOT NULL,
  d_name      TEXT NOT NULL,
  d_street_1  TEXT NOT NULL,
  d_street_2  TEXT NOT NULL,
  d_city      TEXT NOT NULL,
  d_state     TEXT NOT NULL,
  d_zip       TEXT NOT NULL,
  d_tax       REAL NOT NULL,
  d_ytd       REAL NOT NULL,
  d_next_o_id INTEGER NOT NULL,
  PRIMARY KEY (d_w_id, d_id)
) WITHOUT ROWID;
CREATE TABLE {schema}.customer (
  c_id           INTEGER NOT NULL,
  c_d_id         INTEGER NOT NULL,
  c_w_id         INTEGER NOT NULL,
  c_first        TEXT NOT NULL,
  c_middle       TEXT NOT NULL,
  c_last         TEXT NOT NULL,
  c_street_1     TEXT NOT NULL,
  c_street_2     TEXT NOT NULL,
  c_city         TEXT NOT NULL,
  c_state        TEXT NOT NULL,
  c_zip          TEXT NOT NULL,
  c_phone        TEXT NOT NULL,
  c_since        TEXT NOT NULL,
  c_credit       TEXT NOT NULL,
  c_credit_lim   REAL NOT NULL,
  c_discount     REAL NOT NULL,
  c_balance      REAL NOT NULL,
  c_ytd_payment  REAL NOT NULL,
  c_payment_cnt  INTEGER NOT NULL,
  c_delivery_cnt INTEGER NOT NULL,
  c_data         TEXT NOT NULL,
  PRIMARY KEY (c_w_id, c_d_id, c_id)
) WITHOUT ROWID;
CREATE TABLE {schema}.history (
  h_c_id   INTEGER NOT NULL,
  h_c_d_id INTEGER NOT NULL,
  h_c_w_id INTEGER NOT NULL,
  h_d_id   INTEGER NOT NULL,
  h_w_id   INTEGER NOT NULL,
  h_date   TEXT NOT NULL,
  h_amount REAL NOT NULL,
  h_data   TEXT NOT NULL
);
CREATE TABLE {schema}.new_order (
  no_o_id INTEGER NOT NULL,
  no_d_id INTEGER NOT NULL,
  no_w_id INTEGER NOT NULL,
  PRIMARY KEY (no_w_id, no_d_id, no_o_id)
) WITHOUT ROWID;
CREATE TABLE {schema}.orders (
  o_id         INTEGER NOT NULL,
  o_d_id       INTEGER NOT NULL,
  o_w_id       INTEGER NOT NULL,
  o_c_id       INTEGER NOT NULL,
  o_entry_d    TEXT NOT NULL,
  o_carrier_id INTEGER,
  o_ol_cnt     INTEGER NOT NULL,
  o_all_local  INTEGER NOT NULL,
  PRIMARY KEY (o_w_id, o_d_id, o_id)
) WITHOUT ROWID;
CREATE TABLE {schema}.order_line (
  ol_o_id        INTEGER NOT NULL,
  ol_d_id        INTEGER NOT NULL,
  ol_w_id        INTEGER NOT NULL,
  ol_number      INTEGER NOT NULL,
  ol_i_id        INTEGER NOT NULL,
  ol_supply_w_id INTEGER NOT NULL,
  ol_delivery_d  TEXT,
  ol_quantity    INTEGER NOT NULL,
  ol_amount      REAL NOT NULL,
  ol_dist_info   TEXT NOT NULL,
  PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)
) WITHOUT ROWID;
CREATE TABLE {schema}.item (
  i_id    INTEGER NOT NULL,
  i_im_id INTEGER NOT NULL,
  i_name  TEXT NOT NULL,
  i_price REAL NOT NULL,
  i_data  TEXT NOT NULL,
  PRIMARY KEY (i_id)
) WITHOUT ROWID;
CREATE TABLE {schema}.stock (
  s_i_id       INTEGER NOT NULL,
  s_w_id       INTEGER NOT NULL,
  s_quantity   INTEGER NOT NULL,
  s_dist_01    TEXT NOT NULL,
  s_dist_02    TEXT NOT NULL,
  s_dist_03    TEXT NOT NULL,
  s_dist_04    TEXT NOT NULL,
  s_dist_05    TEXT NOT NULL,
  s_dist_06    TEXT NOT NULL,
  s_dist_07    TEXT NOT NULL,
  s_dist_08    TEXT NOT NULL,
  s_dist_09    TEXT NOT NULL,
  s_dist_10    TEXT NOT NULL,
  s_ytd        INTEGER NOT NULL,
  s_order_cnt  INTEGER NOT NULL,
  s_remote_cnt INTEGER NOT NULL,
  s_data       TEXT NOT NULL,
  PRIMARY KEY (s_w_id, s_i_id)
) WITHOUT ROWID;
