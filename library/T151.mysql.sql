CALL dbdyno_t151(?)
