SELECT dbdyno_t133(?) FROM dual
