-- step: call
CALL dbdyno_order_entry.stock_level(:w, :d, :threshold, CAST(NULL AS INTEGER))
