UPDATE dbdyno_oltp SET version = version + 1 WHERE id = ?
