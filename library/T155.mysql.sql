CALL dbdyno_t155(?)
