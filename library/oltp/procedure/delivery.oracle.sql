-- step: call
CALL dbdyno_order_entry.delivery(:w, :carrier, :now, NULL)
