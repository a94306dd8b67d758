CALL dbdyno_t154(?)
