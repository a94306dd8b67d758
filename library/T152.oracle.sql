SELECT dbdyno_t152(?) FROM dual
