CALL dbdyno_t153(?)
