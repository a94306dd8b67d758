UPDATE dbdyno_changed SET version = version + 1 WHERE id = ?
