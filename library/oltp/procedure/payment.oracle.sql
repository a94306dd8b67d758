-- step: call
CALL dbdyno_order_entry.payment(:w, :d, :c_w, :c_d, :c_id, :c_last, :amount, :mark, :now,
  CAST(NULL AS INTEGER), CAST(NULL AS INTEGER), NULL)
