-- step: call
CALL dbdyno_order_entry.order_status(:w, :d, :c_id, :c_last,
  CAST(NULL AS INTEGER), CAST(NULL AS INTEGER), NULL)
