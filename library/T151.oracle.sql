SELECT dbdyno_t151(?) FROM dual
