-- step: call
CALL dbdyno_order_entry.new_order(:w, :d, :c_id, :items, :supply_ws, :quantities, :now,
  CAST(NULL AS INTEGER), CAST(NULL AS INTEGER), NULL)
