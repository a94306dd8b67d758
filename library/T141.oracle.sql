SELECT dbdyno_t141(?) FROM dual
